"""Features that golden games must show: detectors that look at every event and name what they find.

A detector gets an event, with the state before it, and returns whether the feature is there. The
other features are counted by name: events, commands, refusals, ends and tie-breaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, get_args

from schemas.commands import CallTime, Leave
from schemas.events import (
    CommandRefused,
    Contributor,
    DeckShuffled,
    Event,
    GameCreated,
    GameEnded,
    GameForked,
    PlayOffCalled,
    PlayOffEnded,
    SeatCleared,
    SeatGone,
    SeatTaken,
)
from schemas.field_types import Seat
from schemas.refusals import is_rule_of_play
from schemas.stored.entries import Entry
from schemas.trains.commands import DeclineTunnel, DrawTickets
from schemas.trains.events import (
    CardsGiven,
    ChoiceLaid,
    DeckRecreated,
    LastTurnsBegan,
    MarketFlushed,
    MomentLaid,
    PassengerMoved,
    PassengerPlaced,
    PositionLaid,
    RequestUnmet,
    RouteClaimed,
    StationBuilt,
    TicketsOffered,
    TicketsReturned,
    TunnelDeclined,
    TunnelRevealed,
)
from schemas.trains.field_types import LOCOMOTIVE, PASSENGER, PLUS_FOUR
from services.referee.games import GameState, evolve
from services.referee.games.appliers import advance_clocks
from services.referee.games.state import ACTION, Choice
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.scoring import TIE_BREAKS, train_scores
from services.referee.games.trains.train_state import TrainGame


class Moment(NamedTuple):
    """The circumstances of an event: the state before it, and its entry."""

    state: TrainGame  # just before the event
    entry: Entry  # that the event is part of
    open: Mapping[Seat, Choice]  # the pending choices when the command came
    freed: set[str]  # routes of the seats removed so far


Detector: TypeAlias = Callable[[Moment, Any], bool]
SHARED: Final = "shared"  # a first place that no criterion decides


def features(log: Sequence[Entry]) -> Counter[str]:
    """How often each feature is in a game's log."""
    state, freed, seen = GameState(), set[str](), Counter[str]()
    created = log[0].events[0]
    assert isinstance(created, GameCreated)
    is_of_trains = created.ruleset in TRAIN_RULESETS
    if not is_of_trains:
        seen[f"{created.ruleset} for {len(created.seats)}"] += 1
    for entry in log:
        verdict = "refused" if entry.refusal else "accepted"
        seen[f"command {verdict}: {entry.command.type}"] += 1
        advance_clocks(state, entry.at)
        moment = Moment(state, entry, dict(state.pending_choices), freed)
        for event in entry.events:
            seen.update(_seen(moment, event) if is_of_trains else _seen_in_any_game(moment, event))
            if is_of_trains and isinstance(event, SeatCleared):
                freed.update(state.seats[event.seat].own.routes)
            evolve(state, event)
    return seen


def _seen_in_any_game(moment: Moment, event: Event) -> Iterator[str]:
    yield f"event: {event.type}"
    if isinstance(event, CommandRefused) and is_rule_of_play(event.rule):
        yield f"refused by {event.rule}"
    if isinstance(event, SeatGone):
        yield f"{moment.state.ruleset.name} gone: {event.why}"
    if isinstance(event, GameEnded):
        yield f"{moment.state.ruleset.name} ends: {'early' if _has_withdrawn(moment.state) else 'at its end'}"


def _has_withdrawn(state: GameState) -> bool:
    return any(seat_state.exit_reason for seat_state in state.seats)


def _seen(moment: Moment, event: Event) -> Iterator[str]:
    yield from _seen_in_any_game(moment, event)
    for name, detector in DETECTORS.get(type(event), {}).items():
        if detector(moment, event):
            yield name
    if isinstance(event, SeatGone) and event.why == "out of time":
        yield f"out of time for a {_limit_reached(moment, event)}: {moment.open[event.seat]}"
    if isinstance(event, GameEnded):
        rules = moment.state.ruleset.name
        yield f"{rules} ends: {event.reason}"
        if event.reason == "all gone":
            yield from {f"{rules} all gone: {seat_state.exit_reason}" for seat_state in moment.state.seats}
        for tie_break in _tie_breaks(moment.state, event):
            yield f"{rules} tie: {tie_break}"


def _tie_breaks(state: TrainGame, event: GameEnded) -> Iterator[str]:
    """For each seat level in points with the first: the criterion that decides between them, or SHARED."""
    scores = [score for score in train_scores(event) if state.seats[score.seat].exit_reason != "removed"]
    first = next((score for score in scores if score.place == 1), None)
    for score in scores:
        if first is None or score is first or score.total != first.total:
            continue
        criteria = (
            name
            for name in state.ruleset.parts.tie_breaks
            if TIE_BREAKS[name](score, scores) != TIE_BREAKS[name](first, scores)
        )
        criterion = next(criteria, None)
        assert (criterion is None) == (score.place == 1), (
            "seats share the first place if no criterion decides between them"
        )
        yield criterion or SHARED


# -- detectors -----------------------------------------------------------------------------


def _twins(moment: Moment, event: RouteClaimed) -> tuple[str, ...]:
    return moment.state.own.board.routes[event.route].parallels


def _is_closed(moment: Moment, event: RouteClaimed) -> bool:
    twins = _twins(moment, event)
    return moment.state.own.closes_parallels and bool(twins)


def _is_shared(moment: Moment, event: RouteClaimed) -> bool:
    """A parallel has an owner already, under rules that close parallels in smaller games."""
    state = moment.state
    owned = any(twin in state.own.route_owners for twin in _twins(moment, event))
    return owned and not state.own.closes_parallels and not state.rule_options.parallel_owned


def _limit_reached(moment: Moment, event: SeatGone) -> str | None:
    """Which limit of the seat ran out when the server called time: its clock, or that of its move; None at other times."""
    rule_options, seat_state = moment.state.rule_options, moment.state.seats[event.seat]
    if not isinstance(moment.entry.command, CallTime):
        return None
    other = " of several" if rule_options.clock_ms and rule_options.move_ms else ""
    return ("clock" if rule_options.clock_ms and seat_state.clock_ms <= 0 else "move") + other


def _contributed(contributor: Contributor) -> Detector:
    return lambda moment, event: event.by == contributor


def _flushed_by(kind: str) -> Detector:
    return lambda moment, event: moment.state.own.market.count(kind) >= moment.state.rule_options.flush[kind]


def _lent_routes(moment: Moment, event: GameEnded) -> set[bool]:
    """For the stations that lend a route: whether their neighbours were named."""
    return {
        neighbour is not None
        for score in train_scores(event)
        for neighbour, route in zip(
            moment.state.seats[score.seat].own.stations.values(), score.lent, strict=True
        )
        if route is not None
    }


def _countries(moment: Moment, event: GameEnded) -> set[int]:
    """For the tickets that were made: how many of their ends are countries."""
    board = moment.state.own.board
    made_tickets = [board.tickets[ticket] for score in train_scores(event) for ticket in score.made]
    return {sum(city in board.countries for city in (ticket.a, ticket.b)) for ticket in made_tickets}


DETECTORS: Final[Mapping[type[Event], Mapping[str, Detector]]] = {
    GameCreated: {
        "own board": lambda moment, event: event.board_form is not None,
        "play-off game": lambda moment, event: event.play_off is not None,
        "the game clock is not the wall clock": lambda moment, event: event.opened != event.created,
    },
    PositionLaid: {"position laid": lambda moment, event: True},
    SeatTaken: {
        f"{contributor} contributed": _contributed(contributor) for contributor in get_args(Contributor)
    },
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
            and moment.state.turn is not None
        ),
        "fewer tickets left than a mix has": lambda moment, event: (
            moment.state.turn is not None and len(event.tickets) < moment.state.rule_options.draw_named
        ),
    },
    DeckShuffled: {"deck rebuilt": lambda moment, event: moment.state.turn is not None},
    DeckRecreated: {"rest of the deck shuffled in": lambda moment, event: bool(moment.state.own.deck)},
    MarketFlushed: {
        "flush by locomotives": _flushed_by(LOCOMOTIVE),
        "flush by passenger cards": lambda moment, event: (
            PASSENGER in moment.state.rule_options.flush and _flushed_by(PASSENGER)(moment, event)
        ),
        "market left alone after five reshuffles": lambda moment, event: (
            sum(isinstance(each, DeckShuffled | DeckRecreated) for each in moment.entry.events) >= 5
        ),
        "more flushes than five": lambda moment, event: (
            sum(isinstance(each, MarketFlushed) for each in moment.entry.events) > 5
        ),
    },
    RouteClaimed: {
        "ferry": lambda moment, event: moment.state.own.board.routes[event.route].kind == "ferry",
        "tunnel paid": lambda moment, event: bool(moment.state.own.tunnel and moment.state.own.tunnel.extra),
        '"+4" paid': lambda moment, event: PLUS_FOUR in event.cards,
        "parallel closed by seat count": _is_closed,
        "parallel open in a larger game": _is_shared,
        "triple route closed by seat count": lambda moment, event: (
            _is_closed(moment, event) and len(_twins(moment, event)) == 2
        ),
        "triple route open in a larger game": lambda moment, event: (
            _is_shared(moment, event) and len(_twins(moment, event)) == 2
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
        "request unmet with a card left": lambda moment, event: len(moment.state.own.deck) == 1,
    },
    SeatGone: {
        "removed for an illegal command": lambda moment, event: (
            event.why == "removed" and moment.entry.refusal is not None
        ),
        "removed for a missed deadline": lambda moment, event: (
            event.why == "removed" and isinstance(moment.entry.command, CallTime)
        ),
        "removed for a move that took too long": lambda moment, event: (
            event.why == "removed" and _limit_reached(moment, event) == "move"
        ),
        "a move took too long, refusals and all": lambda moment, event: (
            "move" in (_limit_reached(moment, event) or "")
            and moment.state.refusal_counts.get(event.seat, 0) > 0
        ),
        "removed for leaving": lambda moment, event: (
            event.why == "removed" and isinstance(moment.entry.command, Leave)
        ),
    },
    LastTurnsBegan: {
        "last turns of all": lambda moment, event: moment.state.turn in event.seats,
        "last turns of the others only": lambda moment, event: moment.state.turn not in event.seats,
    },
    SeatCleared: {
        "routes of a removed seat free again": lambda moment, event: bool(
            moment.state.seats[event.seat].own.routes
        ),
    },
    PlayOffCalled: {
        "play-off called": lambda moment, event: event.play_off.number == 1,
        "play-off called for seats out of time": lambda moment, event: all(
            moment.state.seats[seat].exit_reason == "out of time" for seat in event.seats
        ),
        "play-off goes on": lambda moment, event: event.play_off.number > 1,
    },
    PlayOffEnded: {
        "play-off won": lambda moment, event: len(event.winners) == 1,
        "play-off ended by a seat that left": lambda moment, event: any(
            seat_state.exit_reason == "left" for seat_state in moment.state.seats
        ),
        "play-off ends level": lambda moment, event: len(event.winners) > 1,
    },
    GameEnded: {
        "station lends the best route": lambda moment, event: False in _lent_routes(moment, event),
        "station lends the route that was named": lambda moment, event: True in _lent_routes(moment, event),
        "ticket to a country made": lambda moment, event: 1 in _countries(moment, event),
        "ticket between countries made": lambda moment, event: 2 in _countries(moment, event),
        "longest route of several": lambda moment, event: (
            sum(score.bonus > 0 for score in train_scores(event)) > 1
        ),
        "most tickets of several": lambda moment, event: (
            sum(score.most > 0 for score in train_scores(event)) > 1
        ),
    },
}
