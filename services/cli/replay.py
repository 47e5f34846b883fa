"""Looking back: the games that there are, and any of them turn by turn."""

from __future__ import annotations

import json
from typing import Any, Final

from rich.table import Table as Grid

from schemas.codec import unpack_entry
from schemas.contract import Schema
from schemas.entries import write_entry, write_view_entry
from schemas.errors import CorruptDataError, InvalidInputError, LedgerlineError
from schemas.events import Event
from schemas.field_types import GameId, Seat
from services.cli.tables import console, final_score_table, standings_table
from services.ledger import MissingEntryError, iter_view
from services.referee.rules import GameState, fold, fold_events
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.text.events import event_sentence, game_summary_json
from services.text.formatting import format_game_time
from services.verification.game_repository import GameRepository

MAX_GAMES: Final = 1_000  # games in a list
_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")


class GameNotFoundError(LedgerlineError):
    """Neither the engine nor the archive has a game of this id."""


def list_games(repository: GameRepository, as_json: bool) -> None:
    """The games that there are, the latest first; a damaged one stops no other."""
    documents = [_game_json(repository, game) for game in repository.games(MAX_GAMES)]
    if as_json:
        print(json.dumps({"games": documents}, ensure_ascii=False, indent=2))
        return
    if not documents:
        console.print("No games yet. `ledgerline play` plays one.")
        return
    grid = Grid("game", "rules", "board", "state", "entries", "seats and points")
    for summary in documents:
        if summary["state"] == "damaged":
            grid.add_row(summary["game"], "", "", "damaged", "", summary["why"])
            continue
        seats = ", ".join(f"{seat['name'] or '(free)'} {seat['total']}" for seat in summary["seats"])
        state_word = f"{summary['state']}: {summary['ended']}" if summary["ended"] else summary["state"]
        grid.add_row(
            summary["game"], summary["ruleset"], summary["board"], state_word, str(summary["entries"]), seats
        )
    console.print(grid)


def _game_json(repository: GameRepository, game: str) -> dict[str, Any]:
    try:
        log = repository.read_entries(game)
        events = sum(len(unpack_entry(data).events) for data in log)
        return game_summary_json(fold(log), events, len(log))
    except (MissingEntryError, CorruptDataError) as error:
        return _damaged_json(game, error)
    except PROGRAMMING_ERRORS as error:  # its rows can be read, and no rules wrote them; or a bug
        return _damaged_json(game, error)


def _damaged_json(game: str, error: Exception) -> dict[str, Any]:
    return {"game": game, "state": "damaged", "why": f"{type(error).__name__}: {error}"}


def replay_game(
    repository: GameRepository, game: str, last_sequence: int | None, viewer: str | None, as_json: bool
) -> None:
    """The game from its log, or from a viewer's own entries, up to an entry."""
    entries = _read_turns(repository, game, viewer)
    if last_sequence is not None and last_sequence > len(entries):
        raise InvalidInputError("--to", f"game {game} has {len(entries)} entries")
    entries = entries[:last_sequence]
    state, event_count = GameState(), 0
    for sequence, (at_ms, entry_events, _) in enumerate(entries, 1):
        for event in entry_events:
            fold_events(state, at_ms, (event,))
            if not as_json and (sentence := event_sentence(state, event)):
                console.print(
                    f"{sequence:>4} {format_game_time(at_ms)}  {sentence}", markup=False, soft_wrap=True
                )
        event_count += len(entry_events)
    if as_json:
        summary = game_summary_json(state, event_count, len(entries))
        summary["turns"] = [entry_json for _, _, entry_json in entries]
        print(json.dumps(summary, ensure_ascii=False, indent=2))
    else:
        console.print(final_score_table(state) if state.result else standings_table(state))


def _read_turns(
    repository: GameRepository, game: str, viewer: str | None
) -> list[tuple[int, tuple[Event, ...], dict[str, Any]]]:
    """Each entry's time and events, and its JSON form."""
    log = read_game_log(repository, game)
    if viewer is None:
        entries = [unpack_entry(data) for data in log]
        return [(e.at, e.events, write_entry(sequence, e)) for sequence, e in enumerate(entries, 1)]
    seats = len(fold(log[:1]).seats)
    seat = parse_viewer(viewer, seats)
    return [(e.at, e.events, write_view_entry(e)) for e in iter_view(repository, game, seat)]


def read_game_log(repository: GameRepository, game: str) -> list[bytes]:
    """The log of a game. Raises Malformed or NoSuchGame."""
    log = repository.read_entries(_GAME_ID.read(game))
    if not log:
        raise GameNotFoundError(f"there is no game {game}; `ledgerline games` lists them")
    return log


def parse_viewer(text: str, seats: int) -> Seat | None:
    """Whose knowledge `--as` names: a seat's, or the public's. Raises Malformed."""
    if text == "public":
        return None
    if not text.isdecimal() or int(text) >= seats:
        raise InvalidInputError("--as", f"{text!r} is neither public nor a seat from 0 to {seats - 1}")
    return int(text)
