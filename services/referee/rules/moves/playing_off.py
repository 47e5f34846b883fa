"""A first place that is shared is played for again: best of several new games (TIE-1)."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import PlayOff
from schemas.events import PlayOffCalled, PlayOffEnded, SeatScore
from schemas.words import Seat
from services.referee.rules.ruleset import Facts
from services.referee.rules.table import Table


def play_off(table: Table, scores: Sequence[SeatScore]) -> Facts:
    """The next game of a play-off, or how it ended; nothing where none is due."""
    first = [score.seat for score in scores if score.place == 1]
    if table.play_off is not None:
        yield from goes_on(table, table.play_off, first)
        return
    level = [seat for seat in first if table.places[seat].gone is None]
    if table.figures.play_off and len(level) > 1 and table.laid is None:
        yield called(PlayOff(table.game, 1, tuple(level), (0,) * len(level)), tuple(level))


def goes_on(table: Table, series: PlayOff, first: Sequence[Seat]) -> Facts:
    """One game more is counted; a tied one counts for nobody."""
    wins = [won + (first == [seat]) for seat, won in enumerate(series.wins)]
    best = max(wins)
    present = all(place.gone is None for place in table.places)
    decided = best > table.figures.play_off // 2
    if not decided and series.number < table.figures.play_off and present:
        following = PlayOff(series.of, series.number + 1, series.seats, tuple(wins))
        yield called(following, tuple(range(len(wins))))
    else:
        winners = tuple(seat for seat, won in zip(series.seats, wins, strict=True) if won == best)
        yield PlayOffEnded(series.of, winners)


def called(series: PlayOff, seats: tuple[Seat, ...]) -> PlayOffCalled:
    """The game's id follows from the first game's, so that it is the same whoever creates it."""
    return PlayOffCalled(f"{series.of[:36]}-po{series.number}", series, seats)
