"""`ledgerline games`, `replay` and `watch`: the list of games, and one of them turn by turn, or as it is played."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer
from rich.table import Table

from schemas.errors import CorruptDataError, InvalidInputError, MissingGameError
from schemas.events import Event, GameCreated
from schemas.field_types import Seat
from schemas.game_options import PUBLIC_ACCESS
from schemas.stored.codec import unpack_entry
from schemas.stored.entries import Entry, ViewEntry, write_entry, write_view_entry
from schemas.stored.player_names import (
    SaltedNames,
    log_entry_with_names,
    shown_names,
    unpack_names,
    with_names,
)
from services.archive import MAX_FILE_BYTES, GameFileError, decode_game_file
from services.cli.options import (
    DEFAULT_DATA,
    DataOption,
    GameArgument,
    JsonOption,
    fold_with_names,
    open_games,
    parse_viewer,
    read_game_log,
)
from services.cli.output import console, print_json
from services.cli.playing.following import WatchedGame
from services.cli.tables.game_tables import final_score_table, standings_table
from services.documents import read_bytes
from services.ledger import MissingEntryError, ViewFollower, iter_view
from services.referee.games import GameState, fold, fold_events, redact_for
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.text.formatting import SEAT_LETTERS, format_game_time
from services.text.sentences import event_sentence, game_summary_json
from services.verification.game_repository import GameRepository, reconstruct
from services.verification.replay import Replay

app = typer.Typer()
ALL_OPEN: Final = "all"  # of --as: every card, as the log has it
WAIT_MS: Final = 1_000  # for the next entry of a watched game, before it is asked for again


@app.command()
def games(
    most: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many, the latest first.")] = 1_000,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """List the latest games, public or not, and how they stand."""
    with open_games(data) as opened:
        listed = [_summarize_game(opened.repository, game) for game in opened.repository.games(most)]
    if as_json:
        print_json({"games": [game.summary for game in listed]})
        return
    if not listed:
        console.print("No games yet. `ledgerline play` plays one.")
        return
    table = Table("game", "begun (UTC)", "rules", "board", "state", "winner", "visible", "seats and points")
    for game in listed:
        table.add_row(*game.cells)
    console.print(table)


@app.command()
def replay(
    game: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="The game's id, or a file of `export` or `fuzz`.")
    ],
    to: Annotated[int | None, typer.Option(min=1, help="Stop after this entry.")] = None,
    viewer: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="Whose eyes: a seat (A, B, .. or its player's name), public, or all cards open; "
            "all once the game is over, public before.",
            show_default=False,
        ),
    ] = None,
    position: Annotated[
        bool,
        typer.Option("--position", help="Print the position there, all cards open, as a question to ask."),
    ] = False,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Show a game turn by turn from its log, then how it stands at that point."""
    if position and viewer not in {None, ALL_OPEN}:
        raise InvalidInputError("--position", "has every card, so it can't be shown --as somebody sees it")
    if os.path.isfile(game):  # noqa: PTH113 - Path's own raises for a name too long
        _show_source(_read_file(Path(game)), ReplayOptions(to, viewer, position, as_json))
        return
    with open_games(data) as games:
        game = games.find(game)
        source = ReplaySource(
            game,
            read_game_log(games.repository, game),
            games.repository.read_names(game),
            partial(iter_view, games.repository, game),
        )
        _show_source(source, ReplayOptions(to, viewer, position, as_json))


@app.command()
def watch(
    game: GameArgument,
    viewer: Annotated[
        str,
        typer.Option("--as", help="What to show: what a seat (A, B, .. or a name) or the public sees."),
    ] = "public",
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Follow a game as it is played, in sentences, until it is over. Every entry is checked as it comes.

    With --json each entry is a line of its own, a JSON object."""
    with open_games(data) as games:
        follow_game(games.repository, games.ledger, games.find(game), viewer, as_json=as_json)


class ListedGame(NamedTuple):
    """A game of the list: as JSON, and as a row of the table."""

    summary: Mapping[str, object]
    cells: tuple[str, ...]


class ReplayOptions(NamedTuple):
    """Up to which entry a game is replayed, as who sees it, and in which form."""

    to: int | None
    viewer: str | None
    position: bool
    as_json: bool


class ReplaySource(NamedTuple):
    """A game to replay: its log, the names beside it, and what a viewer is shown of it."""

    game: str
    log: list[bytes]
    names: SaltedNames
    view: Callable[[Seat | None], Iterable[ViewEntry]]


class ReplayedEntry(NamedTuple):
    """An entry as the viewer sees it: when it was written, its events, and its JSON form."""

    at_ms: int
    events: tuple[Event, ...]
    entry_json: Mapping[str, object]


def _summarize_game(repository: GameRepository, game: str) -> ListedGame:
    """A game of the list; a damaged one is listed as such."""
    try:
        log = repository.read_entries(game)
        entries = [unpack_entry(data) for data in log]
        event_count = sum(len(entry.events) for entry in entries)
        state = fold(log)
        if not state.result:  # its points are what the public knows of them
            state = _as_public(entries)
        if any(seat_state.name_commitment is not None for seat_state in state.seats):
            state.show_names(shown_names(repository.read_names(game)))
        winners = [score.seat for score in state.result.scores if score.place == 1] if state.result else []
        begun = _begun(entries)
        summary = {
            **game_summary_json(state, event_count, len(log)),
            "begun": begun and begun.isoformat(timespec="seconds"),
            "winners": winners,
        }
        if state.access != PUBLIC_ACCESS:
            summary |= state.access._asdict()
    except MissingGameError as error:
        cells = (game, "", "", "", "not installed", "", "", str(error))
        return ListedGame({"game": game, "state": "not installed", "why": str(error)}, cells)
    except (MissingEntryError, CorruptDataError, *PROGRAMMING_ERRORS) as error:
        # of the last: its rows can be read, and no rules wrote them; or a bug
        reason = f"{type(error).__name__}: {error}"
        cells = (game, "", "", "", "damaged", "", "", reason)
        return ListedGame({"game": game, "state": "damaged", "why": reason}, cells)
    seats = ", ".join(f"{seat['name'] or '(free)'} {seat['total']}" for seat in summary["seats"])
    status = f"{summary['state']}: {summary['ended']}" if summary["ended"] else summary["state"]
    shown = (
        f"{begun:%Y-%m-%d %H:%M}" if begun else "",
        summary["ruleset"],
        summary.get("board", ""),
        status,
        ", ".join(state.seats[seat].name or SEAT_LETTERS[seat] for seat in winners),
        state.access.visibility,
    )
    return ListedGame(summary, (game, *shown, seats))


def _as_public(entries: Sequence[Entry]) -> GameState:
    """The game as the public sees it."""
    state = GameState()
    for entry in entries:
        shown = (redact_for(None, event) for event in entry.events)
        fold_events(state, entry.at, [event for event in shown if event is not None])
    return state


def _begun(entries: Sequence[Entry]) -> datetime | None:
    """When the game was created, by the wall clock."""
    for event in entries[0].events if entries else ():
        if isinstance(event, GameCreated):
            return datetime.fromtimestamp(event.created / 1000, UTC)
    return None


def _read_file(path: Path) -> ReplaySource:
    """The game of a file, whoever signed it. Raises InvalidInputError, or CorruptDataError: it can't be read or folded."""
    try:
        file = decode_game_file(read_bytes(path, MAX_FILE_BYTES, str(path)))
    except GameFileError as error:
        raise InvalidInputError(str(path), str(error)) from None
    names = unpack_names(file.names) if file.names else {}
    Replay(file.game, file.entries).state_after(len(file.entries))

    def view(viewer: Seat | None) -> Iterable[ViewEntry]:
        return [with_names(entry, names) for entry in reconstruct(file.game, file).view(viewer)]

    return ReplaySource(file.game, file.entries, names, view)


def _show_source(source: ReplaySource, options: ReplayOptions) -> None:
    """While a game is played, its hidden cards are shown to who asks for all of them by name. Raises InvalidInputError."""
    if options.viewer is None and not fold(source.log).result:
        if options.position:
            raise InvalidInputError("--position", "has every card of a game that is played: add --as all")
        options = options._replace(viewer="public")
    if options.position:
        print_json(_read_position(source, options.to))
    else:
        _replay_game(source, options.to, options.viewer, options.as_json)


def _replay_game(source: ReplaySource, last_sequence: int | None, viewer: str | None, as_json: bool) -> None:
    """Print the game from its log, or from a viewer's own entries, up to an entry."""
    entries = _read_entries(source, viewer)
    _require_entry(source.game, len(entries), last_sequence)
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


def _read_position(source: ReplaySource, last_sequence: int | None) -> dict[str, object]:
    """The position after an entry, or after the last one, as a question to `ask`."""
    from services.cli.trains.ask import position_question  # noqa: PLC0415 - it reads boards and YAML, which no other option needs

    game, log = source.game, source.log
    _require_entry(game, len(log), last_sequence)
    state = fold(log[:last_sequence])
    if not state.started or (state.turn is None and not state.result):
        when = f"entry {last_sequence or len(log)} of game {game}"
        raise InvalidInputError("--to", f"{when} is before the first turn, where no position can be")
    return position_question(state)


def _require_entry(game: str, length: int, last_sequence: int | None) -> None:
    if last_sequence is not None and last_sequence > length:
        raise InvalidInputError("--to", f"game {game} has {length} entries")


def _read_entries(source: ReplaySource, viewer: str | None) -> list[ReplayedEntry]:
    if viewer in {None, ALL_OPEN}:
        entries = [log_entry_with_names(unpack_entry(data), source.names) for data in source.log]
        return [
            ReplayedEntry(entry.at, entry.events, write_entry(sequence, entry))
            for sequence, entry in enumerate(entries, 1)
        ]
    assert viewer is not None
    seat = parse_viewer(viewer, fold(source.log, GameState(shown_names(source.names))))
    return [ReplayedEntry(entry.at, entry.events, write_view_entry(entry)) for entry in source.view(seat)]


def follow_game(
    repository: GameRepository, views: ViewFollower, game: str, viewer: str, *, as_json: bool = False
) -> None:
    """Print a game's sentences from its first entry on, wait for more until it is over, and print the scores; or its
    entries as lines of JSON.

    Raises InvalidInputError, GameNotFoundError, or CommandLineError: an entry doesn't fit the chain."""
    state = fold_with_names(repository, game, read_game_log(repository, game))
    watched = WatchedGame(game, parse_viewer(viewer, state))
    while not watched.state.result:
        for entry in repository.read_view(game, watched.viewer, watched.sequence):
            sentences = watched.apply_entries([entry])
            if as_json:
                print(json.dumps(write_view_entry(entry)), flush=True)
                continue
            for sentence in sentences:
                line = f"{entry.number:>4} {format_game_time(entry.at)}  {sentence}"
                console.print(line, markup=False, soft_wrap=True)
        if not watched.state.result:
            views.follow_view(game, watched.viewer, watched.sequence, WAIT_MS)
    if not as_json:
        console.print(final_score_table(watched.state))
