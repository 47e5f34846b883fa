"""`ledgerline referee`, but that a named seed decides the deal of people too: a bench sends moves that were chosen before.

With people at a table the product mixes 32 random bytes into a named seed, so that nobody can know the deal. Here
everybody may. Nothing else differs: the mixing is one hash a game.
"""

from __future__ import annotations

from collections.abc import Callable

from schemas.commands import CommandEnvelope
from services.cli import main
from services.referee import decision_building


def take_named_seed(envelope: CommandEnvelope, new_seed: Callable[[], str]) -> tuple[CommandEnvelope, str]:
    """As `named_seeds.take_seed`, without the mixing: the seed that the command names stays in it."""
    return envelope, new_seed()


if __name__ == "__main__":
    vars(decision_building)["take_seed"] = take_named_seed
    main()
