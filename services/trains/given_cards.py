"""One game of Trains with given cards and known strategies, by the ordinary core.

Only the chance is ours: the facts of the start are made here, the cards lying as they were given
and the destinations in the order of their names. All that follows is what the core makes of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from schemas.boards.form import BOARD, BoardForm
from schemas.commands import ClaimRoute, Command, CreateGame, KeepTickets, Letter, SeatPlan, TakeSeat
from schemas.events import DeckShuffled, Event, GameCreated, GameStarted, TicketsShuffled
from schemas.field_types import Seat
from schemas.refusals import Refused, require
from services.bots.policies import Policy
from services.bots.policies.random_source import Dice
from services.bots.policies.trains_strategies import buy_now, hold_10
from services.referee.rules import RULESETS, Table, advance, fold_events, judge, legal
from services.referee.rules.rulesets.trains import TRAINS
from services.referee.rules.setup.create_game import Opening, create_game

GAME: Final = "given-cards"
NO_SEED: Final = "00" * 32  # the chance is given
OPTIONS: Final = {"order": "seated", "start_return": "top"}
NOT_ON_ANY_MAP: Final = ClaimRoute("no-such-route", {"red": 3})


class TooFewDestinations(Exception):
    """The map can't give every player destinations to choose from (SETUP-4)."""


class Outcome(NamedTuple):
    """Players by their places in the order of turns."""

    ranks: tuple[tuple[int, ...], ...]  # the winners first
    removed: tuple[int, ...]


def cheat(table: Table, seat: Seat, commands: Sequence[Command], dice: Dice) -> Command:
    """Keep destinations like everybody else, then ask for a connection that there isn't."""
    if any(isinstance(command, KeepTickets) for command in commands):
        return hold_10(table, seat, commands, dice)
    return NOT_ON_ANY_MAP


PLAYERS: Final[Mapping[str, Policy]] = {"Hold-10": hold_10, "Buy-Now": buy_now, "Cheat": cheat}


def play(form: BoardForm, players: Sequence[Policy], cards: Sequence[str]) -> Outcome:
    """The game of these players, the oldest first, with these cards from the top of the deck on.

    Raises TooFewDestinations, and Refused where no such game can be."""
    table = laid(form, len(players), cards)
    dice = Dice(NO_SEED, 0)
    while not table.over:
        (seat,) = table.awaits
        command = players[seat](table, seat, legal(table, seat), dice)
        judge(table, Letter("move", GAME, seat, command), 0, NO_SEED)
    return outcome(table)


def laid(form: BoardForm, seats: int, cards: Sequence[str]) -> Table:
    """The table with hands dealt and the first player choosing its destinations."""
    table = Table()
    plans = tuple(SeatPlan() for _ in range(seats))
    try:
        fold_events(
            table, 0, created(CreateGame(plans, TRAINS.name, BOARD.write(form), options=OPTIONS), cards)
        )
    except Refused as no:
        raise TooFewDestinations(no.why) if no.rule == "SETUP-4" else no from None
    for seat in range(seats):
        advance(table, None, TakeSeat(f"player {seat + 1}"))
    dealt = seats * table.figures.hand
    require(len(cards) >= dealt, "GAME-6", f"cards: {len(cards)} in all, {dealt} are dealt at the start")
    destinations = tuple(table.board.tickets)
    shuffled = (DeckShuffled(tuple(cards), None), TicketsShuffled("regular", destinations, None))
    fold_events(table, 0, (GameStarted(tuple(range(seats))), *shuffled))
    fold_events(table, 0, table.rules.setup(table))
    return table


def created(command: CreateGame, cards: Sequence[str]) -> Iterable[Event]:
    """As any game is created, but with exactly these cards: of a colour there may be none."""
    for event in create_game(RULESETS, Opening(GAME, 0, 0, NO_SEED), command):
        if isinstance(event, GameCreated):
            figures = replace(event.parameters, cards=Counter(cards))
            yield replace(event, parameters=figures)
        else:
            yield event


def outcome(table: Table) -> Outcome:
    """Who shares which rank at the end, and who was removed."""
    assert table.over is not None, "the game is over"
    removed = tuple(seat for seat, place in enumerate(table.places) if place.gone)
    ranks: dict[int, list[int]] = {}
    for score in sorted(table.over.scores, key=lambda score: score.place):
        if score.seat not in removed:
            ranks.setdefault(score.place, []).append(score.seat)
    return Outcome(tuple(tuple(rank) for rank in ranks.values()), removed)
