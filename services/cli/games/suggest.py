"""`ledgerline suggest`: what the bot `searcher` would do in a seat's place, and why."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.table import Table

from schemas.errors import InvalidInputError
from schemas.web.tokens import Holder, TokenKeys
from services.bootstrap.data_folder_keys import data_folder_token_keys
from services.cli.options import (
    DEFAULT_DATA,
    DataOption,
    GameArgument,
    JsonOption,
    fold_with_names,
    open_games,
    parse_seat,
    read_game_log,
)
from services.cli.output import CommandLineError, console, print_json, print_line
from services.gateway.models.table_models import Suggestions
from services.ledger import iter_view
from services.tables.table_fold import FoldedTable
from services.text.formatting import SEAT_LETTERS, seat_title

app = typer.Typer()


@app.command()
def suggest(
    game: GameArgument,
    seat_named: Annotated[str, typer.Option("--seat", help="Whose move: a seat (A, B, ..).")],
    at: Annotated[int | None, typer.Option(min=1, help="After this entry, in place of the last one.")] = None,
    token: Annotated[
        str | None,
        typer.Option(help="The seat's token, while the game is played.", envvar="LEDGERLINE_SEAT_TOKEN"),
    ] = None,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Say what a seat might do, the best first, with the points that each choice is expected to bring."""
    with open_games(data) as games:
        game = games.find(game)
        state = fold_with_names(games.repository, game, read_game_log(games.repository, game))
        if (seat := parse_seat(seat_named, state)) is None:
            last = SEAT_LETTERS[len(state.seats) - 1]
            raise InvalidInputError("--seat", f"must be from A to {last}, or a player's name")
        if state.result is None:
            latest = games.ledger.read_token_generations(game).of(seat)
            _require_token(data_folder_token_keys(data, games.settings), token, Holder(game, seat), latest)
            if not state.access.suggestions:
                raise CommandLineError(f"game {game} was made without suggestions; ask when it is over")
        table = FoldedTable(game, seat)
        entries = list(iter_view(games.repository, game, seat))
    if at is not None and at > len(entries):
        raise InvalidInputError("--at", f"game {game} has {len(entries)} entries")
    table.apply(entries[:at])
    suggestions = table.suggestions()
    assert suggestions is not None, "it thinks as long as it takes"
    if as_json:
        print_json(suggestions.model_dump(mode="json"))
    else:
        _print_suggestions(suggestions)


def _require_token(keys: TokenKeys, text: str | None, holder: Holder, generation: int) -> None:
    """Raises InvalidInputError: while a game is played, a seat asks for itself alone."""
    assert holder.seat is not None, "the host chooses nothing"
    if text is None:
        raise InvalidInputError(
            "--token", "is missing: while the game is played, a seat asks for itself alone"
        )
    token = keys.verify(text)
    if (
        token is None
        or token.holder != holder
        or token.has_ended(time.time())
        or token.generation < generation
    ):
        raise InvalidInputError(
            "--token", f"isn't one that opens {seat_title(holder.seat)} of game {holder.game} now"
        )


def _print_suggestions(suggestions: Suggestions) -> None:
    where = f"{seat_title(suggestions.seat)} of game {suggestions.game}, after entry {suggestions.number}"
    if not suggestions.commands:
        print_line(f"Nothing is to be chosen by {where}.")
        return
    table = Table("", "what", "points", "lead", "why", title=f"Suggestions for {where}")
    for place, each in enumerate(suggestions.commands, 1):
        points = _with_error(each.points, each.points_error)
        table.add_row(str(place), each.text, points, _with_error(each.lead, each.lead_error), each.why)
    console.print(table)


def _with_error(value: float | None, error: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if error is None else f"{value:.1f} ± {error:.1f}"
