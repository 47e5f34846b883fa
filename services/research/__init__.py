"""Tables as environments for learning: the interface of PettingZoo, on the rules alone.

Start with `pettingzoo_env`; `parts_form` is what an agent sees and does as numbers. The game
behind it is `services.tournament.viewed_game`. Needs the extra `research`.
"""

import services.research.trains  # noqa: F401 - a family that has forms of its own
