"""Tables as environments for learning: the interface of PettingZoo, on the rules alone.

Start with `pettingzoo_env`; `viewed_game` is the game behind it, `observation_form` and `action_forms` say what an agent
sees and does as numbers. Needs the extra `research`.
"""
