"""The contracts that only the train games have: boards, cards, routes, tickets, positions, scores and options."""
