"""Looking back: the games that there are, and any of them turn by turn."""

from __future__ import annotations

import json
from typing import Any, Final

from rich.table import Table as Grid

from schemas.codec import Corrupt, unpack_entry
from schemas.contract import Malformed, Shape
from schemas.entries import write_entry, write_view
from schemas.events import Event
from schemas.field_types import GameId, Seat
from services.cli.tables import final_table, out, standing_table
from services.ledger import Gap, whole_view
from services.referee.rules import Table, fold, fold_events
from services.text.events import document, tell
from services.text.formatting import clock
from services.verification.game_repository import Kept

MOST: Final = 1_000  # games in a list
_GAME_ID: Final[Shape[str]] = Shape(GameId, "game")


class NoSuchGame(Exception):
    """Neither the engine nor the archive has a game of this id."""


def list_games(kept: Kept, as_json: bool) -> None:
    """The games that there are, the latest first; a damaged one stops no other."""
    documents = [_folded_document(kept, game) for game in kept.games(MOST)]
    if as_json:
        print(json.dumps({"games": documents}, ensure_ascii=False, indent=2))
        return
    if not documents:
        out.print("No games yet. `ledgerline play` plays one.")
        return
    grid = Grid("game", "rules", "board", "state", "entries", "seats and points")
    for told in documents:
        if told["state"] == "damaged":
            grid.add_row(told["game"], "", "", "damaged", "", told["why"])
            continue
        seats = ", ".join(f"{seat['name'] or '(free)'} {seat['total']}" for seat in told["seats"])
        state_word = f"{told['state']}: {told['ended']}" if told["ended"] else told["state"]
        grid.add_row(told["game"], told["ruleset"], told["board"], state_word, str(told["entries"]), seats)
    out.print(grid)


def _folded_document(kept: Kept, game: str) -> dict[str, Any]:
    try:
        log = kept.history(game)
        events = sum(len(unpack_entry(data).events) for data in log)
        return document(fold(log), events, len(log))
    except (Gap, Corrupt, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        return {"game": game, "state": "damaged", "why": f"{type(error).__name__}: {error}"}


def replay(kept: Kept, game: str, to: int | None, viewer: str | None, as_json: bool) -> None:
    """The game from its log, or from a viewer's own entries, up to an entry."""
    entries = _entries(kept, game, viewer)
    if to is not None and to > len(entries):
        raise Malformed("--to", f"game {game} has {len(entries)} entries")
    entries = entries[:to]
    table, events = Table(), 0
    for number, (at, facts, _) in enumerate(entries, 1):
        for event in facts:
            fold_events(table, at, (event,))
            if not as_json and (sentence := tell(table, event)):
                out.print(f"{number:>4} {clock(at)}  {sentence}", markup=False, soft_wrap=True)
        events += len(facts)
    if as_json:
        told = document(table, events, len(entries))
        told["turns"] = [written for _, _, written in entries]
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        out.print(final_table(table) if table.over else standing_table(table))


def _entries(
    kept: Kept, game: str, viewer: str | None
) -> list[tuple[int, tuple[Event, ...], dict[str, Any]]]:
    """Each entry's time and events, and its JSON form."""
    log = read_game(kept, game)
    if viewer is None:
        whole = [unpack_entry(data) for data in log]
        return [(e.at, e.events, write_entry(number, e)) for number, e in enumerate(whole, 1)]
    seats = len(fold(log[:1]).places)
    seat = read_viewer(viewer, seats)
    return [(e.at, e.events, write_view(e)) for e in whole_view(kept, game, seat)]


def read_game(kept: Kept, game: str) -> list[bytes]:
    """The log of a game. Raises Malformed or NoSuchGame."""
    log = kept.history(_GAME_ID.read(game))
    if not log:
        raise NoSuchGame(f"there is no game {game}; `ledgerline games` lists them")
    return log


def read_viewer(word: str, seats: int) -> Seat | None:
    """Whose knowledge `--as` names: a seat's, or the public's. Raises Malformed."""
    if word == "public":
        return None
    if not word.isdecimal() or int(word) >= seats:
        raise Malformed("--as", f"{word!r} is neither public nor a seat from 0 to {seats - 1}")
    return int(word)
