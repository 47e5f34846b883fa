"""A tournament's figures and rounds, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from services.cli.output import console, print_line
from services.tournament.game_results import GameResult
from services.tournament.knock_out_games import KnockOutGame, PlayedKnockOut, outcome_of
from services.tournament.standings import Estimate, Standings


def print_report(
    policies: Sequence[str],
    how: str,
    standings: Standings,
    results: Sequence[GameResult],
    knock_out: PlayedKnockOut | None,
) -> None:
    """Print all of it; `how` says what was played and how."""
    if knock_out is not None:
        console.print(rounds_table(policies, knock_out))
        print_line(_winners_line(policies, knock_out))
    console.print(standings_table(standings))
    print_line(f"The winner's score: {_in_words(standings.winner_score, 1)}. {len(results)} games. {how}")


def report_json(
    policies: Sequence[str],
    how: str,
    standings: Standings,
    results: Sequence[GameResult],
    knock_out: PlayedKnockOut | None,
) -> dict[str, object]:
    """The same as one JSON document."""
    document: dict[str, object] = {
        "how": how,
        "standings": _standings_json(standings),
        "games": list(map(asdict, results)),
    }
    return document | ({"knock_out": _knock_out_json(policies, knock_out)} if knock_out is not None else {})


def standings_table(standings: Standings) -> Table:
    """The standings as a table."""
    table = Table("policy", title="Standings, with 95 % intervals over seed blocks")
    for heading in ("seats played", "wins %", "score", "tickets made %", "rating"):
        table.add_column(heading, justify="right")
    for each in standings.policies:
        table.add_row(
            each.policy,
            str(each.games),
            _in_words(each.win_rate, 100),
            _in_words(each.score, 1),
            _in_words(each.tickets_made, 100),
            f"{each.rating:.1f}",
        )
    return table


def _in_words(value: Estimate, factor: float) -> str:
    text = f"{value.mean * factor:.1f}"
    return text if value.margin is None else f"{text} ± {value.margin * factor:.1f}"


def _standings_json(standings: Standings) -> dict[str, object]:
    return {
        "policies": [asdict(each) for each in standings.policies],
        "winner_score": asdict(standings.winner_score),
        "beats": [{"policy": a, "over": b, "share": share} for (a, b), share in standings.beats.items()],
    }


def rounds_table(policies: Sequence[str], played: PlayedKnockOut) -> Table:
    """A row for each game of each round; players by their numbers, in the order of sign-up."""
    table = Table("round", "players", "winners", "removed", "game", title="Knock-out")
    for number, games in enumerate(played.rounds, 1):
        for game in games:
            ranks, removed = _ranks(game)
            table.add_row(
                str(number),
                _player_names(policies, game.players),
                _player_names(policies, ranks[0] if ranks else ()),
                _player_names(policies, removed),
                game.result.game or "",
            )
    return table


def _winners_line(policies: Sequence[str], played: PlayedKnockOut) -> str:
    """Who has won, in a sentence."""
    winners, removed = played.result
    line = f"Winners: {_player_names(policies, winners)}." if winners else "Nobody has won."
    return line + (f" Removed: {_player_names(policies, removed)}." if removed else "")


def _knock_out_json(policies: Sequence[str], played: PlayedKnockOut) -> dict[str, object]:
    """Every round's games; players are indices into `policies`."""
    return {
        "policies": list(policies),
        "rounds": [
            [
                {"players": game.players, "game": game.result.game, "ranks": ranks, "removed": removed}
                for game in games
                for ranks, removed in [_ranks(game)]
            ]
            for games in played.rounds
        ],
        "winners": played.result.winners,
        "removed": played.result.removed,
    }


def _ranks(game: KnockOutGame) -> tuple[list[list[int]], list[int]]:
    """The players of each rank, and those that were removed."""
    outcome = outcome_of(game.result)
    return (
        [[game.players[seat] for seat in rank] for rank in outcome.ranks],
        [game.players[seat] for seat in outcome.removed],
    )


def _player_names(policies: Sequence[str], players: Sequence[int]) -> str:
    return ", ".join(f"{player + 1} {policies[player]}" for player in players)
