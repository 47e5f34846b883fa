"""A first place that is shared is played for again: best of several new games (TIE-1)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from schemas.boards.form import BOARD
from schemas.commands import CreateGame, PlayOff, SeatPlan
from schemas.events import PlayOffCalled, PlayOffEnded, SeatScore
from schemas.field_types import Seat
from schemas.refusals import Refused
from schemas.rule_options import PARAMETERS
from services.referee.rules import board as boards
from services.referee.rules.board import Board
from services.referee.rules.ruleset import Facts
from services.referee.rules.setup.validation import require_dealable
from services.referee.rules.table import Place, Table

ROOT_MOST: Final = 36  # letters of the first game's id that fit into the others'


def play_off(table: Table, scores: Sequence[SeatScore]) -> Facts:
    """The next game of a play-off, or how it ended; nothing where none is due."""
    first = [score.seat for score in scores if score.place == 1]
    if table.play_off is not None:
        yield from goes_on(table, table.play_off, first)
        return
    level = [seat for seat in first if stays(table.places[seat])]
    if table.figures.play_off and len(level) > 1 and can_be_dealt(table, len(level)):
        yield called(PlayOff(table.game, 1, tuple(level), (0,) * len(level)), tuple(level))


def goes_on(table: Table, series: PlayOff, first: Sequence[Seat]) -> Facts:
    """One game more is counted; a tied one counts for nobody."""
    wins = [won + (first == [seat]) for seat, won in enumerate(series.wins)]
    best = max(wins)
    present = all(stays(place) for place in table.places)
    decided = best > table.figures.play_off // 2
    if not decided and series.number < table.figures.play_off and present:
        following = PlayOff(series.of, series.number + 1, series.seats, tuple(wins))
        yield called(following, tuple(range(len(wins))))
    else:
        winners = tuple(seat for seat, won in zip(series.seats, wins, strict=True) if won == best)
        yield PlayOffEnded(series.of, winners)


def stays(place: Place) -> bool:
    """Whether the seat plays on after this game: one whose time ran out has a new clock then."""
    return place.gone in (None, "out of time")


def can_be_dealt(table: Table, seats: int) -> bool:
    """Whether there are cards and tickets for a new game. A position may have had fewer than a deal
    takes: then its first place stays shared."""
    if table.laid is None:
        return True
    figures, board = table.figures, boards.build(table.board.form)
    if figures.pair_tickets:
        board = boards.with_pairs(board, figures.pair_tickets)
    try:
        require_dealable(table.rules, figures, board, seats)
    except Refused:
        return False
    return True


def called(series: PlayOff, seats: tuple[Seat, ...]) -> PlayOffCalled:
    """The game's id follows from the first game's, so that it is the same whoever creates it."""
    root = series.of
    if len(root) > ROOT_MOST:
        digest = sha256(root.encode()).hexdigest()[:12]
        root = f"{root[: ROOT_MOST - 13]}-{digest}"
    return PlayOffCalled(f"{root}-po{series.number}", series, seats)


# -- the game that follows ---------------------------------------------------------------


def next_game(table: Table) -> tuple[str, CreateGame] | None:
    """The game that follows from this one, and the wish for it: the same rules, board and
    figures, the seats that play off, and a seed that nobody knows yet. None if none follows."""
    if table.called is None:
        return None
    seats = table.called.seats
    figures = PARAMETERS.write(table.figures)  # every one: today's defaults don't count
    figures["seats_least"] = min(figures["seats_least"], len(seats))  # fewer may be level than began
    command = CreateGame(
        tuple(seated_again(table.places[seat]) for seat in seats),
        ruleset=table.rules.name,
        board=board_again(table.board),
        options=figures,
        play_off=table.called.play_off,
    )
    return table.called.game, command


def seated_again(place: Place) -> SeatPlan:
    kind = "bot" if place.policy else "human"
    return SeatPlan(kind, place.policy, place.name, place.age)  # type: ignore[arg-type]  # checked when it came


def board_again(board: Board) -> object:
    """The name of a board that comes with the product; else the board itself."""
    if board.id in boards.names() and boards.load(board.id).form == board.form:
        return board.id
    return BOARD.write(board.form, brief=True)
