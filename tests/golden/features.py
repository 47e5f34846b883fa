"""What golden games must have shown: detectors that look at every entry, and name what they see.

A detector looks at a fact, on the table before it, and says whether the feature is there. The
rest are counts by name: of events, commands, refusals, ends and tie-breaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, get_args

from schemas.commands import CallTime, DeclineTunnel, DrawTickets, Leave
from schemas.entries import Entry
from schemas.events import (
    CardsGiven,
    ChoiceLaid,
    CommandRefused,
    Contributor,
    DeckShuffled,
    Event,
    GameCreated,
    GameEnded,
    GameForked,
    LastTurnsBegan,
    MarketFlushed,
    MomentLaid,
    PassengerMoved,
    PassengerPlaced,
    PlayOffCalled,
    PlayOffEnded,
    PositionLaid,
    RequestUnmet,
    RouteClaimed,
    SeatCleared,
    SeatGone,
    SeatTaken,
    StationBuilt,
    TicketsOffered,
    TicketsReturned,
    TunnelDeclined,
    TunnelRevealed,
)  # fmt: skip
from schemas.field_types import LOCOMOTIVE, PASSENGER, PLUS_FOUR, Seat
from schemas.refusals import GAME_RULES
from services.referee.rules import GameState, evolve
from services.referee.rules.evolve import advance_clocks
from services.referee.rules.state import ACTION, Choice


class Moment(NamedTuple):
    """A fact, and what was before it."""

    table: GameState  # just before the fact
    entry: Entry  # that the fact is part of
    open: Mapping[Seat, Choice]  # what the table waited for when the command came
    freed: set[str]  # routes of removed seats so far


Detector: TypeAlias = Callable[[Moment, Any], bool]
SHARED: Final = "shared"  # a first place that nothing parts


def features(log: Sequence[Entry]) -> Counter[str]:
    """How often each feature is in a game's log."""
    table, freed, seen = GameState(), set[str](), Counter[str]()
    for entry in log:
        verdict = "refused" if entry.refusal else "accepted"
        seen[f"command {verdict}: {entry.command.type}"] += 1
        advance_clocks(table, entry.at)
        moment = Moment(table, entry, dict(table.pending_choices), freed)
        for event in entry.events:
            seen.update(_seen(moment, event))
            if isinstance(event, SeatCleared):
                freed.update(table.seats[event.seat].routes)
            evolve(table, event)
    return seen


def _seen(moment: Moment, event: Event) -> Iterator[str]:
    yield f"event: {event.type}"
    for name, detector in DETECTORS.get(type(event), {}).items():
        if detector(moment, event):
            yield name
    if isinstance(event, CommandRefused) and event.rule in GAME_RULES:
        yield f"refused by {event.rule}"
    if isinstance(event, SeatGone) and event.why == "out of time":
        yield f"out of time for a {_ran_out(moment, event)}: {moment.open[event.seat]}"
    if isinstance(event, GameEnded):
        rules = moment.table.ruleset.name
        yield f"{rules} ends: {event.reason}"
        if event.reason == "all gone":
            yield from {f"{rules} all gone: {place.exit_reason}" for place in moment.table.seats}
        for parted in _parted(moment.table, event):
            yield f"{rules} tie: {parted}"


def _parted(table: GameState, event: GameEnded) -> Iterator[str]:
    """What parts each seat that is level in points with the first from it: a criterion, or nothing."""
    scores = [score for score in event.scores if table.seats[score.seat].exit_reason != "removed"]
    first = next((score for score in scores if score.place == 1), None)
    for score in scores:
        if first is None or score is first or score.total != first.total:
            continue
        parts = (rank for rank in table.ruleset.tie_breaks if rank(score, scores) != rank(first, scores))
        criterion = next(parts, None)
        assert (criterion is None) == (score.place == 1), (
            "the first place is shared by those whom nothing parts"
        )
        yield criterion.__name__ if criterion else SHARED


# -- detectors -----------------------------------------------------------------------------


def _twins(moment: Moment, event: RouteClaimed) -> tuple[str, ...]:
    return moment.table.board.routes[event.route].parallels


def _closes(moment: Moment, event: RouteClaimed) -> bool:
    twins = _twins(moment, event)
    return moment.table.closes_parallels and bool(twins)


def _shares(moment: Moment, event: RouteClaimed) -> bool:
    """A parallel has an owner already, under rules that close parallels at smaller tables."""
    table = moment.table
    owned = any(twin in table.route_owners for twin in _twins(moment, event))
    return owned and not table.closes_parallels and not table.rule_options.parallel_owned


def _ran_out(moment: Moment, event: SeatGone) -> str | None:
    """What had no time left when the server called it: the seat's whole game, or its move."""
    figures, place = moment.table.rule_options, moment.table.seats[event.seat]
    if not isinstance(moment.entry.command, CallTime):
        return None
    other = " of several" if figures.clock_ms and figures.move_ms else ""
    return ("clock" if figures.clock_ms and place.clock_ms <= 0 else "move") + other


def _contributed(maker: Contributor) -> Detector:
    return lambda moment, event: event.by == maker


def _flushed_by(kind: str) -> Detector:
    return lambda moment, event: moment.table.market.count(kind) >= moment.table.rule_options.flush[kind]


def _lends(moment: Moment, event: GameEnded) -> set[bool]:
    """Of each station that lends: whether its neighbour was named."""
    return {
        neighbour is not None
        for score in event.scores
        for neighbour, route in zip(moment.table.seats[score.seat].stations.values(), score.lent, strict=True)
        if route is not None
    }


def _countries(moment: Moment, event: GameEnded) -> set[int]:
    """How many of the ends of each ticket made are countries."""
    board = moment.table.board
    made = [board.tickets[ticket] for score in event.scores for ticket in score.made]
    return {sum(city in board.countries for city in (ticket.a, ticket.b)) for ticket in made}


DETECTORS: Final[Mapping[type[Event], Mapping[str, Detector]]] = {
    GameCreated: {
        "own board": lambda moment, event: event.board_form is not None,
        "play-off game": lambda moment, event: event.play_off is not None,
        "the house's time is not the wall clock's": lambda moment, event: event.opened != event.created,
    },
    PositionLaid: {"position laid": lambda moment, event: True},
    SeatTaken: {f"{maker} contributed": _contributed(maker) for maker in get_args(Contributor)},
    GameForked: {
        "forked as it was": lambda moment, event: not event.afresh,
        "forked by a seat's knowledge": lambda moment, event: event.afresh and event.asker is not None,
    },
    MomentLaid: {
        "forked before the first turn": lambda moment, event: event.turn is None,
        "forked in the middle of a turn": lambda moment, event: (
            event.turn is not None and any(choice != ACTION for _, choice, _ in event.awaits)
        ),
    },
    ChoiceLaid: {"forked with a mix that is named": lambda moment, event: event.named},
    TicketsReturned: {"starting tickets out of the game": lambda moment, event: event.to == "out"},
    TicketsOffered: {
        "tickets drawn in a named mix": lambda moment, event: (
            isinstance(moment.entry.command, DrawTickets)
            and bool(moment.entry.command.decks)
            and moment.table.turn is not None
        ),
    },
    DeckShuffled: {"deck rebuilt": lambda moment, event: moment.table.turn is not None},
    MarketFlushed: {
        "flush by locomotives": _flushed_by(LOCOMOTIVE),
        "flush by passenger cards": lambda moment, event: (
            PASSENGER in moment.table.rule_options.flush and _flushed_by(PASSENGER)(moment, event)
        ),
        "market left alone after five flushes": lambda moment, event: (
            sum(isinstance(result, MarketFlushed) for result in moment.entry.events) == 5
        ),
    },
    RouteClaimed: {
        "ferry": lambda moment, event: moment.table.board.routes[event.route].kind == "ferry",
        "tunnel paid": lambda moment, event: bool(moment.table.tunnel and moment.table.tunnel.extra),
        '"+4" paid': lambda moment, event: PLUS_FOUR in event.cards,
        "parallel closed by seat count": _closes,
        "parallel open at a larger table": _shares,
        "triple route closed by seat count": lambda moment, event: (
            _closes(moment, event) and len(_twins(moment, event)) == 2
        ),
        "triple route open at a larger table": lambda moment, event: (
            _shares(moment, event) and len(_twins(moment, event)) == 2
        ),
        "route of a removed seat claimed again": lambda moment, event: event.route in moment.freed,
    },
    TunnelRevealed: {
        "tunnel that asks for nothing": lambda moment, event: not event.extra,
        "tunnel with locomotives only": lambda moment, event: set(event.cards) == {LOCOMOTIVE},
    },
    TunnelDeclined: {
        "tunnel declined": lambda moment, event: isinstance(moment.entry.command, DeclineTunnel),
    },
    StationBuilt: {
        "station with a named neighbour": lambda moment, event: event.neighbour is not None,
        "station without a named neighbour": lambda moment, event: event.neighbour is None,
    },
    PassengerPlaced: {"passenger placed": lambda moment, event: True},
    PassengerMoved: {
        "passenger moved over another's route": lambda moment, event: event.cards > 0,
        "passenger moved over own routes only": lambda moment, event: event.cards == 0,
    },
    CardsGiven: {"cards requested": lambda moment, event: True},
    RequestUnmet: {
        "request unmet": lambda moment, event: True,
        "request unmet with a card left": lambda moment, event: len(moment.table.deck) == 1,
    },
    SeatGone: {
        "removed for an illegal command": lambda moment, event: (
            event.why == "removed" and moment.entry.refusal is not None
        ),
        "removed for a missed deadline": lambda moment, event: (
            event.why == "removed" and isinstance(moment.entry.command, CallTime)
        ),
        "removed for a move that took too long": lambda moment, event: (
            event.why == "removed" and _ran_out(moment, event) == "move"
        ),
        "a move took too long, refusals and all": lambda moment, event: (
            "move" in (_ran_out(moment, event) or "") and moment.table.refusal_counts.get(event.seat, 0) > 0
        ),
        "removed for leaving": lambda moment, event: (
            event.why == "removed" and isinstance(moment.entry.command, Leave)
        ),
    },
    LastTurnsBegan: {
        "last turns of all": lambda moment, event: moment.table.turn in event.seats,
        "last turns of the others only": lambda moment, event: moment.table.turn not in event.seats,
    },
    SeatCleared: {
        "routes of a removed seat free again": lambda moment, event: bool(
            moment.table.seats[event.seat].routes
        ),
    },
    PlayOffCalled: {
        "play-off called": lambda moment, event: event.play_off.number == 1,
        "play-off called for seats out of time": lambda moment, event: all(
            moment.table.seats[seat].exit_reason == "out of time" for seat in event.seats
        ),
        "play-off goes on": lambda moment, event: event.play_off.number > 1,
    },
    PlayOffEnded: {
        "play-off won": lambda moment, event: len(event.winners) == 1,
        "play-off ended by a seat that left": lambda moment, event: any(
            place.exit_reason == "left" for place in moment.table.seats
        ),
        "play-off ends level": lambda moment, event: len(event.winners) > 1,
    },
    GameEnded: {
        "station lends the best route": lambda moment, event: False in _lends(moment, event),
        "station lends the route that was named": lambda moment, event: True in _lends(moment, event),
        "ticket to a country made": lambda moment, event: 1 in _countries(moment, event),
        "ticket between countries made": lambda moment, event: 2 in _countries(moment, event),
        "longest route of several": lambda moment, event: sum(score.bonus > 0 for score in event.scores) > 1,
        "most tickets of several": lambda moment, event: sum(score.most > 0 for score in event.scores) > 1,
    },
}
