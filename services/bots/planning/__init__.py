"""What the policy `planner` thinks with: the board as numbers, a seat's situation, a network for its
tickets, what the cards are needed for.

Start with `seat_situation`, then `network_plan` and `card_needs`; the policy is in `policies/planner.py`.
"""
