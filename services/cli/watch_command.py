"""`ledgerline watch`: one game as it is played, sentence by sentence, until it ends."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from services.bootstrap.composition import open_archive_reader
from services.cli.options import DEFAULT_DATA, DataOption, load_settings, open_read_ledger, with_own_archive
from services.cli.output import console
from services.cli.replay import parse_viewer, read_game_log
from services.cli.tables import final_score_table
from services.cli.watch import WatchedGame
from services.ledger import ViewFollower
from services.referee.rules import fold
from services.text.formatting import format_game_time
from services.verification.game_repository import GameRepository

WAIT_MS: Final = 1_000  # for the next entry, before it is asked for again

app = typer.Typer()


@app.command()
def watch(
    game: Annotated[str, typer.Argument(help="The game's id, as its page and `games` name it.")],
    viewer: Annotated[
        str, typer.Option("--as", help="What to show: what a seat (0, 1, ..) or the public sees.")
    ] = "public",
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Follow a game as it is played, in sentences, until it is over. Every entry is checked as it comes."""
    with open_read_ledger(data) as ledger:
        archive = open_archive_reader(with_own_archive(load_settings(), data))
        follow_game(GameRepository(ledger, archive), ledger, game, viewer)


def follow_game(repository: GameRepository, views: ViewFollower, game: str, viewer: str) -> None:
    """Print a game's sentences from its first entry on, wait for more until it is over, and print the scores.

    Raises InvalidInputError, GameNotFoundError, or CommandLineError: an entry doesn't fit the chain."""
    first = read_game_log(repository, game)[:1]
    watched = WatchedGame(game, parse_viewer(viewer, len(fold(first).seats)))
    while not watched.state.result:
        for entry in repository.read_view(game, watched.viewer, watched.sequence):
            for sentence in watched.apply_entries([entry]):
                line = f"{entry.number:>4} {format_game_time(entry.at)}  {sentence}"
                console.print(line, markup=False, soft_wrap=True)
        if not watched.state.result:
            views.follow_view(game, watched.viewer, watched.sequence, WAIT_MS)
    console.print(final_score_table(watched.state))
