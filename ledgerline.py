"""Ledgerline for programs in Python: `ledgerline.env("usa", seats=4)` is a table as a PettingZoo environment,
`ledgerline.openspiel_game("usa", seats=4)` the same for OpenSpiel.

The product's packages are `services` and `schemas`; this module only gives what other people's programs import a name of
its own. It is a module and no package, so that nothing of the product can move into it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import services.compiled_rules.at_start  # noqa: F401 - before any module that may be compiled

if TYPE_CHECKING:
    from services.research.openspiel_game import TableGame
    from services.research.pettingzoo_env import TableEnv

__all__ = ["env", "openspiel_game"]


def env(
    ruleset: str = "usa",
    *,
    seats: int = 4,
    board: object = None,
    options: Mapping[str, object] | None = None,
    actions: Literal["fixed", "candidates"] | None = None,
    max_candidates: int = 512,
    reward: Literal["win", "points"] = "win",
    render_mode: str | None = None,
) -> TableEnv:
    """A table as an environment of PettingZoo (AEC): docs/research.md. It needs the extra `research`.

    `board` and `options` are as in a game's creation. `actions` None: fixed where the rules allow it.
    Raises UnloggedRejectionError if no such game can be created, InvalidInputError if the rules have no fixed list of
    actions, ImportError without PettingZoo."""
    try:
        from services.research.pettingzoo_env import TableEnv  # noqa: PLC0415 - most programs don't need it
        from services.tournament.viewed_game import GameSetting  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ImportError(f"{error}: install the extra, ledgerline[research]") from error
    return TableEnv(
        GameSetting(ruleset, board, options),
        seats,
        actions=actions,
        max_candidates=max_candidates,
        reward=reward,
        render_mode=render_mode,
    )


def openspiel_game(
    ruleset: str = "usa",
    *,
    seats: int = 4,
    board: str = "",
    options: Mapping[str, object] | None = None,
    deals: int = 1_000,
) -> TableGame:
    """A table as a game of OpenSpiel, which chooses among so many deals: docs/research.md. It needs the extra `openspiel`.

    Raises UnloggedRejectionError if no such game can be created, ImportError without OpenSpiel."""
    try:
        from services.research.openspiel_game import TableGame  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ImportError(f"{error}: install the extra, ledgerline[openspiel]") from error
    parameters = {"ruleset": ruleset, "seats": seats, "board": board, "options": json.dumps(options or {})}
    return TableGame({**parameters, "deals": deals})
