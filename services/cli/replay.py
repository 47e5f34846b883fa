"""`ledgerline games` and `ledgerline replay`: the list of games, and one of them turn by turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, NamedTuple

import typer
from rich.table import Table

from schemas.access import PUBLIC_ACCESS
from schemas.codec import unpack_entry
from schemas.contract import Schema
from schemas.entries import write_entry, write_view_entry
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import Event
from schemas.field_types import GameId, Seat
from schemas.player_names import log_entry_with_names, shown_names
from services.cli.exit import GameNotFoundError
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, open_repository
from services.cli.output import console, print_json
from services.cli.position_question import position_question
from services.cli.tables import final_score_table, standings_table
from services.ledger import MissingEntryError, iter_view
from services.referee.rules import GameState, fold, fold_events
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.text.events import event_sentence
from services.text.formatting import format_game_time
from services.text.game_summary import game_summary_json
from services.verification.game_repository import GameRepository

app = typer.Typer()
MAX_GAMES: Final = 1_000  # games in a list
_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")


@app.command()
def games(data: DataOption = DEFAULT_DATA, as_json: JsonOption = False) -> None:
    """List the games (the latest thousand), public or not, and how they stand."""
    with open_repository(data) as repository:
        list_games(repository, as_json)


@app.command()
def replay(
    game: Annotated[str, typer.Argument(help="The game's id, as play and games print it.")],
    to: Annotated[int | None, typer.Option(min=1, help="Stop after this entry.")] = None,
    viewer: Annotated[
        str | None, typer.Option("--as", help="Show what a seat (0, 1, ..) or the public sees.")
    ] = None,
    position: Annotated[
        bool,
        typer.Option("--position", help="Print the position there, all cards open, as a question to ask."),
    ] = False,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Show a game turn by turn from its log, then how it stands at that point."""
    with open_repository(data) as repository:
        if position:
            if viewer is not None:
                raise InvalidInputError(
                    "--position", "has every card, so it can't be shown --as somebody sees it"
                )
            print_json(read_position(repository, game, to))
            return
        replay_game(repository, game, to, viewer, as_json)


class ListedGame(NamedTuple):
    """A game of the list: as JSON, and as a row of the table."""

    summary: Mapping[str, object]
    cells: tuple[str, ...]


class ReplayedEntry(NamedTuple):
    """An entry as the viewer sees it: when it was written, its events, and its JSON form."""

    at_ms: int
    events: tuple[Event, ...]
    entry_json: Mapping[str, object]


def list_games(repository: GameRepository, as_json: bool) -> None:
    """Print the latest games, the latest first. A damaged one is listed as such."""
    listed = [_summarize_game(repository, game) for game in repository.games(MAX_GAMES)]
    if as_json:
        print_json({"games": [game.summary for game in listed]})
        return
    if not listed:
        console.print("No games yet. `ledgerline play` plays one.")
        return
    table = Table("game", "rules", "board", "state", "visible", "entries", "seats and points")
    for game in listed:
        table.add_row(*game.cells)
    console.print(table)


def _summarize_game(repository: GameRepository, game: str) -> ListedGame:
    try:
        log = repository.read_entries(game)
        event_count = sum(len(unpack_entry(data).events) for data in log)
        state = fold(log)
        if any(seat_state.name_commitment is not None for seat_state in state.seats):
            state.show_names(shown_names(repository.read_names(game)))
        summary = game_summary_json(state, event_count, len(log))
        if state.access != PUBLIC_ACCESS:
            summary |= state.access._asdict()
    except (MissingEntryError, CorruptDataError) as error:
        return _list_damaged(game, error)
    except PROGRAMMING_ERRORS as error:  # its rows can be read, and no rules wrote them; or a bug
        return _list_damaged(game, error)
    seats = ", ".join(f"{seat['name'] or '(free)'} {seat['total']}" for seat in summary["seats"])
    status = f"{summary['state']}: {summary['ended']}" if summary["ended"] else summary["state"]
    return ListedGame(
        summary,
        (
            game,
            summary["ruleset"],
            summary["board"],
            status,
            state.access.visibility,
            str(summary["entries"]),
            seats,
        ),
    )


def _list_damaged(game: str, error: Exception) -> ListedGame:
    reason = f"{type(error).__name__}: {error}"
    return ListedGame(
        {"game": game, "state": "damaged", "why": reason}, (game, "", "", "damaged", "", "", reason)
    )


def replay_game(
    repository: GameRepository, game: str, last_sequence: int | None, viewer: str | None, as_json: bool
) -> None:
    """Print the game from its log, or from a viewer's own entries, up to an entry.

    Raises InvalidInputError or GameNotFoundError."""
    entries = _read_entries(repository, game, viewer)
    _require_entry(game, len(entries), last_sequence)
    entries = entries[:last_sequence]
    state, event_count = GameState(), 0
    for sequence, (at_ms, events, _) in enumerate(entries, 1):
        for event in events:
            fold_events(state, at_ms, (event,))
            if not as_json and (sentence := event_sentence(state, event)):
                console.print(
                    f"{sequence:>4} {format_game_time(at_ms)}  {sentence}", markup=False, soft_wrap=True
                )
        event_count += len(events)
    if as_json:
        summary = game_summary_json(state, event_count, len(entries))
        print_json({**summary, "turns": [entry.entry_json for entry in entries]})
    else:
        console.print(final_score_table(state) if state.result else standings_table(state))


def read_position(repository: GameRepository, game: str, last_sequence: int | None) -> dict[str, object]:
    """The question about the position after an entry, or after the last one.

    Raises InvalidInputError or GameNotFoundError."""
    log = read_game_log(repository, game)
    _require_entry(game, len(log), last_sequence)
    state = fold(log[:last_sequence])
    if not state.started or (state.turn is None and not state.result):
        when = f"entry {last_sequence or len(log)} of game {game}"
        raise InvalidInputError("--to", f"{when} is before the first turn, where no position can be")
    return position_question(state)


def _require_entry(game: str, length: int, last_sequence: int | None) -> None:
    if last_sequence is not None and last_sequence > length:
        raise InvalidInputError("--to", f"game {game} has {length} entries")


def _read_entries(repository: GameRepository, game: str, viewer: str | None) -> list[ReplayedEntry]:
    log = read_game_log(repository, game)
    if viewer is None:
        names = repository.read_names(game)
        entries = [log_entry_with_names(unpack_entry(data), names) for data in log]
        return [
            ReplayedEntry(entry.at, entry.events, write_entry(sequence, entry))
            for sequence, entry in enumerate(entries, 1)
        ]
    seat = parse_viewer(viewer, len(fold(log[:1]).seats))
    return [
        ReplayedEntry(entry.at, entry.events, write_view_entry(entry))
        for entry in iter_view(repository, game, seat)
    ]


def read_game_log(repository: GameRepository, game: str) -> list[bytes]:
    """The log of a game: its packed entries. Raises InvalidInputError or GameNotFoundError."""
    log = repository.read_entries(_GAME_ID.read(game))
    if not log:
        raise GameNotFoundError(f"there is no game {game}; `ledgerline games` lists them")
    return log


def parse_viewer(text: str, seats: int) -> Seat | None:
    """The viewer that `--as` names: a seat, or None for the public. Raises InvalidInputError."""
    if text == "public":
        return None
    if not text.isdecimal() or int(text) >= seats:
        raise InvalidInputError("--as", f"{text!r} is neither public nor a seat from 0 to {seats - 1}")
    return int(text)
