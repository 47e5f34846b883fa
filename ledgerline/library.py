"""What `import ledgerline` offers. Most programs need only a part of the product: that is imported when it is called."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import services.compiled_rules.at_start  # noqa: F401 - before any module that may be compiled
from services import VERSION
from services.bots.kit import SeatClient, join
from services.referee.games.trains.board import Board

if TYPE_CHECKING:
    from services.bots.kit.seat_requests import OwnTable
    from services.cli.trains.ask import QueryAnswer
    from services.research.openspiel_game import TableGame
    from services.research.pettingzoo_env import TableEnv
    from services.verification.log_check import Finding
    from services.verification.replay import Replay

__all__ = ["Board", "SeatClient", "join"]  # the rest is defined here
__version__ = VERSION


def create(
    url: str, ruleset: str = "usa", *, seats: Sequence[str] = ("human", "greedy"), **settings: object
) -> OwnTable:
    """Make a table at a server. A seat is "human", free for who joins, or the name of a bot's policy.

    `settings` are the other fields of `POST /v1/games`, such as `board`, `options` or `visibility`. The table's `start()`
    deals, once every seat is taken. Raises ServerRefusedError, with the rule; UnreachableError."""
    from services.bots.kit.seat_requests import create_table  # noqa: PLC0415 - not exported by the kit

    body = [{"kind": "human"} if seat == "human" else {"kind": "bot", "policy": seat} for seat in seats]
    return create_table(url, {**settings, "ruleset": ruleset, "seats": body})


def replay(file: str | Path) -> Replay:
    """The game of a file that `ledgerline export` wrote: `state_after(n)` is the table after n entries, all cards open.

    Whether the file is to be believed is what `verify` says. Raises InvalidInputError if it can't be read."""
    from schemas.errors import InvalidInputError  # noqa: PLC0415 - most programs don't need it
    from schemas.stored.player_names import shown_names, unpack_names  # noqa: PLC0415
    from services.archive import MAX_FILE_BYTES, GameFileError, decode_game_file  # noqa: PLC0415
    from services.documents import read_bytes  # noqa: PLC0415
    from services.verification.replay import Replay  # noqa: PLC0415

    try:
        found = decode_game_file(read_bytes(Path(file), MAX_FILE_BYTES, str(file)))
    except GameFileError as error:
        raise InvalidInputError(str(file), str(error)) from None
    return Replay(found.game, found.entries, shown_names(unpack_names(found.names)) if found.names else {})


def verify(file: str | Path, key: str | None = None) -> list[Finding]:
    """What is wrong with a game's file: its chain, signature, deal or views. An empty list: nothing.

    `key` is the server's public key in hex, which must have signed it; without it any key may have. Raises
    InvalidInputError if it is no such file."""
    from schemas.errors import InvalidInputError  # noqa: PLC0415 - most programs don't need it
    from services.archive import MAX_FILE_BYTES, GameFileError  # noqa: PLC0415
    from services.cli.options import parse_public_key  # noqa: PLC0415
    from services.documents import read_bytes  # noqa: PLC0415
    from services.verification.log_check import check_file_bytes  # noqa: PLC0415

    try:
        data = read_bytes(Path(file), MAX_FILE_BYTES, str(file))
        _, checks = check_file_bytes(data, parse_public_key(key))
    except GameFileError as error:
        raise InvalidInputError(str(file), str(error)) from None
    return [finding for check in checks for finding in check.findings]


def ask(question: Mapping[str, object]) -> QueryAnswer:
    """The referee's verdicts on commands in a position: docs/reference/ask.md has the fields. No server is needed.

    Raises InvalidInputError, naming the entry that is wrong."""
    from services.cli.trains.ask import answer_query  # noqa: PLC0415 - most programs don't need it

    return answer_query(dict(question), Path())


def read_board(name: str) -> Board:
    """A built-in board by its name, or the board of a file. Raises InvalidInputError."""
    from services.cli.trains.board import read_board as read  # noqa: PLC0415 - most programs don't need it

    return read(name)


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
    """A table as an environment of PettingZoo (AEC): docs/how-to/research.md. It needs the extra `research`.

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
    """A table as a game of OpenSpiel, which chooses among so many deals: docs/how-to/research.md. It needs the extra `openspiel`.

    Raises UnloggedRejectionError if no such game can be created, ImportError without OpenSpiel."""
    try:
        from services.research.openspiel_game import TableGame  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ImportError(f"{error}: install the extra, ledgerline[openspiel]") from error
    parameters = {"ruleset": ruleset, "seats": seats, "board": board, "options": json.dumps(options or {})}
    return TableGame({**parameters, "deals": deals})
