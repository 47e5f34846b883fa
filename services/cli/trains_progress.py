"""How a tournament of remote players goes on, and how it ended, in lines and tables."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

from rich.table import Table

from services.cli.options import DEFAULT_DATA
from services.cli.output import PlainTextConsole, console, print_line
from services.text.formatting import pluralize
from services.trains_server.remote_player import RemotePlayer
from services.trains_server.remote_tournament import PlayedGame, Progress, RemoteResult
from services.trains_server.table_port import Table as GameTable


class PrintedProgress(Progress):
    """Prints a line on standard error for everything that happens; `quiet`, only where it listens."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._console = quiet, PlainTextConsole(stderr=True)
        self._games, self._over = 0, 0

    def listen(self, host: str, port: int) -> None:
        """Players can connect now."""
        self._console.print(f"Players may sign up at {host}:{port}.")
        if not is_loopback(host):
            self._console.print(
                "There is no TLS: whoever is on the way can read along, and answer for a player."
            )

    def sign_up(self, name: str, count: int) -> None:
        """See `Progress`."""
        self._print(f"{name} has signed up: {count} so far.")

    def begin_round(self, number: int, groups: Sequence[Sequence[RemotePlayer]]) -> None:
        """See `Progress`."""
        self._games, self._over = len(groups), 0
        self._print(
            f"Round {number}: {pluralize(sum(map(len, groups)), 'player')}, {pluralize(len(groups), 'game')}."
        )

    def open_game(self, number: int, table: GameTable, players: Sequence[RemotePlayer]) -> None:
        """See `Progress`."""
        self._print(
            f"Round {number}: game {table.game} begins, {', '.join(player.name for player in players)}."
        )

    def finish_game(self, played: PlayedGame) -> None:
        """See `Progress`."""
        self._over += 1
        self._print(f"Round {played.round}: game {played.game} is over, {self._over} of {self._games}.")

    def _print(self, line: str) -> None:
        if not self._quiet:
            self._console.print(line)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def print_result(result: RemoteResult, data: Path) -> None:
    """Print the players with what became of them, the games, and the result in the form of the protocol."""
    console.print(players_table(result))
    for played in sorted(result.games):
        names = ", ".join(result.players[index].name for index in played.players)
        option = "" if data == DEFAULT_DATA else f"--data {shlex.quote(str(data))} "
        print_line(f"Round {played.round}: {names}. See it again: ledgerline replay {option}{played.game}")
    if not result.has_map:
        print_line("Nobody suggested a map that has enough destinations and can be played.")


def players_table(result: RemoteResult) -> Table:
    """A row for each player, in the order of sign-up."""
    table = Table("player", "rounds", "result", title="The tournament")
    for index, player in enumerate(result.players):
        rounds = max((played.round for played in result.games if index in played.players), default=0)
        if player.failure:
            became = f"removed ({player.failure})"
        else:
            became = "winner" if player.name in result.winners else "knocked out"
        table.add_row(player.name, str(rounds), became)
    return table
