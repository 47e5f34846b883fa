"""The answer to a dispute's reason: the seats, cards, cities, rules and entries that it names are looked up.

The reason is text for people, so what isn't recognised is left out. All follows from the events that the asker was shown:
while the game runs these are its own view's, and what a move of another seat takes from its hand is believed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final, NamedTuple

from schemas.commands import Command, Pass
from schemas.events import FIELDS, CommandRefused, Event, Passed
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.registry import OfItsGame
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.events import (
    CardDrawn,
    CardsGiven,
    MarketCardTaken,
    PassengerMoved,
    RequestUnmet,
    RouteClaimed,
    StationBuilt,
    TicketsKept,
    TicketsOffered,
    TunnelDeclined,
    TunnelRevealed,
)
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER
from schemas.web.disputes import DisputeMove
from services.referee.games import fold_events, legal
from services.referee.games.state import GameState
from services.referee.games.trains.train_state import TrainGame
from services.text.formatting import city_name, describe_route, fill_in, format_cards, pluralize
from services.verification.replay import TimedEvents
from services.verification.rule_citations import has_rule, known_rules, rules_on
from services.verification.seat_answer import decide_on_view

NOTHING_NAMED: Final = "Your reason names no seat, cards, city, rule or entry that could be looked up."
_NUMBERS: Final = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_KINDS: Final = {**{color: color for color in COLORS}, "locomotive": LOCOMOTIVE, "engine": LOCOMOTIVE}
_CARDS: Final = re.compile(
    rf"(?:\b(\d{{1,2}}|{'|'.join(_NUMBERS)}) )?\b({'|'.join(_KINDS)}|passenger card)s?\b"
    r"(?! (?:route|connection|track|line|tunnel|ferry))",
    re.IGNORECASE,
)
_SEAT: Final = re.compile(r"\b[Ss]eat ([0-7]|[A-H])\b")
_ENTRY: Final = re.compile(r"\b(?:entry|move) (\d{1,9})\b", re.IGNORECASE)
_RULE: Final = re.compile(r"\b[A-Z]+-\d\b", re.IGNORECASE)
_MOST_ENTRIES: Final = 3  # that are looked up for one reason: each folds the game again
_HIDDEN_RULE: Final = "ROUTE-3"  # of what a hand holds
_PAID_BY: Final[Mapping[type[Command], str]] = {
    ClaimRoute: "ROUTE-2",
    PayTunnel: "TUNNEL-3",
    BuildStation: "STATION-2",
}


class Named(NamedTuple):
    """The things that a reason names."""

    seats: frozenset[Seat]
    cards: Mapping[str, int | None]  # how many of each kind; None where no number stands before it
    cities: frozenset[str]
    rules: tuple[str, ...]
    entries: tuple[int, ...]

    def fits(self, act: Act) -> bool:
        """Whether an act is of such a seat, with just these cards, in these cities."""
        held = {card: act.cards.get(card, 0) for card in self.cards}
        return (
            (not self.seats or act.seat in self.seats)
            and all(held[card] and count in (None, held[card]) for card, count in self.cards.items())
            and self.cities <= act.cities
        )


class Act(NamedTuple):
    """Something that a seat did, as it was shown."""

    number: int  # of its entry
    seat: Seat
    text: str  # in the past: "paid 4 blue for Brest - Paris"
    cards: Mapping[str, int]
    cities: frozenset[str] = frozenset()
    command: Command | None = None  # that the rules can decide on again
    is_payment: bool = False  # or any act, in a game in parts
    event: Event | None = None  # a refusal; or, in a game in parts, what one of the seat's commands comes to

    @property
    def sentence(self) -> str:
        return f"seat {self.seat} {self.text}"


def answer_on_reason(
    dispute: DisputeMove, shown: Sequence[TimedEvents], names: Mapping[str, str], viewer: Seat | None
) -> str:
    """What the reason names, looked up in the entries that the viewer was shown (None: the referee's, with all hands).

    `names` are the players', by their commitments; the answer has none of them."""
    state, acts = GameState(names), list[Act]()
    for number, (at_ms, events) in enumerate(shown, 1):
        is_train_game = state.game and state.ruleset.describe is None
        tunnel = state.own.tunnel if is_train_game else None
        before_tunnel = None if tunnel is None else tunnel.cards
        fold_events(state, at_ms, events)
        acts += _acts_of(state, number, events, before_tunnel)
    named = read_reason(dispute.reason, state, acts)
    if not any(named):
        return NOTHING_NAMED
    judge = _Judge(shown, viewer, named.rules)
    sentences = [_on_entry(dispute.number, named, acts, judge)]
    sentences += [_on_other(n, acts, judge) for n in named.entries if n != dispute.number]
    sentences += judge.about_rules(state.ruleset.name)
    return " ".join(sentences)


def read_reason(reason: str, state: TrainGame, acts: Sequence[Act] = ()) -> Named:
    """The things that a reason names: seats by number, letter or name; cards with or without a number, of a game in
    parts those of its acts; cities of the board; ids of rules; numbers of entries."""
    seats = {int(found) if found.isdigit() else ord(found) - ord("A") for found in _SEAT.findall(reason)}
    rest = _ENTRY.sub(" ", _SEAT.sub(" ", reason))
    for seat, seat_state in enumerate(state.seats):
        called = re.compile(rf"(?<!\w){re.escape(seat_state.name)}(?!\w)", re.IGNORECASE)
        if seat_state.name and called.search(rest):
            seats.add(seat)
            rest = called.sub(" ", rest)
    words = _words(rest)
    cards: dict[str, int | None] = {}
    cities = set[str]()
    if state.ruleset.describe is not None:
        cards = {card: None for act in acts for card in act.cards if _words(card) in words}
    else:
        for count, kind in _CARDS.findall(rest):
            number = int(count) if count.isdigit() else _NUMBERS.index(count.lower()) + 1 if count else None
            cards[_KINDS.get(kind.lower(), PASSENGER)] = number
        cities = {city for city, name in state.own.board.cities.items() if _words(name) in words}
    rules = (rule.upper() for rule in _RULE.findall(reason))
    return Named(
        frozenset(seat for seat in seats if seat < len(state.seats)),
        cards,
        frozenset(cities),
        tuple(dict.fromkeys(rule for rule in rules if rule in known_rules())),
        tuple(dict.fromkeys(int(number) for number in _ENTRY.findall(reason)))[:_MOST_ENTRIES],
    )


def _words(text: str) -> str:
    """The words of a text, with a blank before and after each."""
    return " ".join(("", *re.findall(r"\w+", text.casefold()), ""))


def _on_entry(number: int, named: Named, acts: Sequence[Act], judge: _Judge) -> str:
    """Whether the disputed entry is what the reason is about, and which entry is, if it isn't."""
    here = [act for act in acts if act.number == number]
    for act in here:
        if named.fits(act):
            return f"In this entry {act.sentence}{judge.verdict(act)}."
    if named.cards and not any(act.is_payment for act in here):
        lead = "This entry is no payment"
    elif here:
        lead = f"In this entry {here[0].sentence}"
    else:
        lead = "This entry shows no act of a seat"
    if not (named.cards or named.cities or named.seats):
        return f"{lead}."
    fitting = sorted((act for act in acts if named.fits(act)), key=lambda act: abs(act.number - number))
    if not fitting:
        return f"{lead}, and no entry has what your reason names: {_in_words(named)}."
    found = fitting[0]
    return f"{lead}; {found.sentence} in entry {found.number}{judge.verdict(found)}."


def _on_other(number: int, acts: Sequence[Act], judge: _Judge) -> str:
    """Another entry that the reason names."""
    if number not in range(1, len(judge.shown) + 1):
        return f"There is no entry {number}."
    there = next((act for act in acts if act.number == number), None)
    if there is None:
        return f"Entry {number} shows no act of a seat."
    return f"In entry {number} {there.sentence}{judge.verdict(there)}."


def _in_words(named: Named) -> str:
    seats = [f"seat {seat}" for seat in sorted(named.seats)]
    cards = [card if count is None else f"{count} {card}" for card, count in named.cards.items()]
    return ", ".join((*seats, *cards, *sorted(named.cities)))


class _Judge:
    """Decides acts again, each on what the viewer had been shown before it."""

    def __init__(self, shown: Sequence[TimedEvents], viewer: Seat | None, rules: Sequence[str]) -> None:
        self.shown, self.viewer, self.rules = shown, viewer, rules
        self.deciding = set[str]()  # the rules that decide on the acts that were judged

    def about_rules(self, ruleset: str) -> Iterator[str]:
        """A sentence for each named rule that no judged act is right or wrong by."""
        for rule in self.rules:
            if not has_rule(ruleset, rule):
                yield f"{rule} is no rule of {ruleset}."
            elif rule not in self.deciding:
                yield f"{rule} doesn't decide whether such a move is right."

    def verdict(self, act: Act) -> str:
        """By which rule an act was right, or how it wasn't: the end of its sentence."""
        if isinstance(act.event, CommandRefused):
            self.deciding.add(act.event.rule)
            return ""
        if act.command is None and act.event is None:
            return ""
        state = GameState()
        for at_ms, events in self.shown[: act.number - 1]:
            fold_events(state, at_ms, events)
        if act.command is None:
            return self._verdict_in_parts(act, state)
        known = rules_on(state.ruleset.name, act.command)
        self.deciding.update(known)
        rule = next((rule for rule in self.rules if rule in known), "") or _PAID_BY.get(type(act.command), "")
        is_hidden = self.viewer not in (None, act.seat)
        if is_hidden:  # its hand holds what it plays, or nobody may know yet
            hand: dict[str | None, int] = dict.fromkeys(state.rule_options.cards, 0)
            hand.update(act.cards)
            state.seats[act.seat].own.hand = hand
        try:
            decide_on_view(state, self.shown[act.number - 1][0], act.seat, act.command)
        except CommandRefusedError as refusal:
            return f", which is against {refusal.rule}: {refusal.reason}"
        if is_hidden and rule == _HIDDEN_RULE:
            return "; whether it held them is shown when the game is over"
        return f", which was right by {rule or next(iter(known), 'the rules')}"

    def _verdict_in_parts(self, act: Act, state: GameState) -> str:
        """Find, in a game in parts, which of the seat's legal commands came to the act: the end of its sentence."""
        at_ms = self.shown[act.number - 1][0]
        if self.viewer not in (None, act.seat):
            self.deciding.update(self.rules)  # any of them may be
            return "; whether it could do so is shown when the game is over"
        for command in legal(state, act.seat):
            with suppress(CommandRefusedError):
                if decide_on_view(state.copy(), at_ms, act.seat, command) == act.event:
                    known = rules_on(state.ruleset.name, command)
                    self.deciding.update(known)
                    rule = next(
                        (rule for rule in self.rules if rule in known), next(iter(known), "the rules")
                    )
                    return f", which was right by {rule}"
        return ", to which none of its legal commands came"


# -- acts --------------------------------------------------------------------------------------


def _acts_of(
    state: TrainGame, number: int, events: Sequence[Event], tunnel_cards: Mapping[str, int] | None
) -> Iterator[Act]:
    """The acts of seats in an entry, after which this is the state."""
    for event in events:
        match event:
            case RouteClaimed():
                yield _claim(state, number, event, tunnel_cards)
            case TunnelRevealed() if event.extra:
                command = ClaimRoute(event.route, event.cards)
                text = f"laid {format_cards(event.cards)} for the tunnel {describe_route(state, event.route)}"
                yield Act(
                    number, event.seat, text, event.cards, _ends(state, event.route), command, is_payment=True
                )
            case StationBuilt():
                built = BuildStation(event.city, event.cards, event.neighbour)
                text = f"paid {format_cards(event.cards)} for a station in {city_name(state, event.city)}"
                yield Act(
                    number, event.seat, text, event.cards, frozenset((event.city,)), built, is_payment=True
                )
            case PassengerMoved():
                cards = {PASSENGER: event.cards} if event.cards else {}
                text = f"moved a passenger with {pluralize(event.cards, 'passenger card')}"
                moved = MovePassenger(event.city, event.path)
                cities = frozenset((event.city, *event.taken))
                yield Act(number, event.seat, text, cards, cities, moved, is_payment=bool(cards))
            case _ if event.sentence.startswith("{seat} "):
                yield _act_in_parts(state, number, event, is_first=event is events[0])
            case _:
                if (act := _plain_act(number, event)) is not None:
                    yield act


def _act_in_parts(state: GameState, number: int, event: OfItsGame, *, is_first: bool) -> Act:
    """An act as its game's own sentence tells it, and what it names; only the first of an entry is a seat's choice."""
    values = [getattr(event, name) for name in FIELDS[type(event)]]
    names = chain.from_iterable(value if isinstance(value, tuple) else (value,) for value in values)
    text = fill_in(state, event.sentence.removeprefix("{seat} "), event).removesuffix(".")
    cards = Counter(name for name in names if isinstance(name, str))
    return Act(number, event.seat, text, cards, is_payment=True, event=event if is_first else None)


def _claim(state: TrainGame, number: int, event: RouteClaimed, tunnel_cards: Mapping[str, int] | None) -> Act:
    text = f"paid {format_cards(event.cards)} for {describe_route(state, event.route)}"
    command: Command = ClaimRoute(event.route, event.cards)
    if tunnel_cards is not None:
        command = PayTunnel(dict(Counter(event.cards) - Counter(tunnel_cards)))
    return Act(number, event.seat, text, event.cards, _ends(state, event.route), command, is_payment=True)


def _plain_act(number: int, event: Event) -> Act | None:
    """An act that pays for nothing; None for an event that no seat acts in."""
    match event:
        case MarketCardTaken():
            return Act(
                number,
                event.seat,
                f"took {event.card} face up",
                {event.card: 1},
                command=DrawMarket(event.slot),
            )
        case CardDrawn():
            drawn = {} if event.card is None else {event.card: 1}
            return Act(number, event.seat, "drew a card blind", drawn, command=DrawBlind())
        case CardsGiven() | RequestUnmet():
            return Act(number, event.seat, "asked for cards", {}, command=RequestCards())
        case TicketsOffered():
            return Act(number, event.seat, f"was offered {pluralize(len(event.tickets), 'ticket')}", {})
        case TicketsKept():
            return Act(number, event.seat, f"kept {pluralize(len(event.kept), 'ticket')}", {})
        case TunnelDeclined():
            return Act(number, event.seat, "left a tunnel", {})
        case Passed():
            return Act(number, event.seat, "passed", {}, command=Pass())
        case CommandRefused(seat=int() as seat):
            return Act(number, seat, f"was refused by {event.rule}: {event.why}", {}, event=event)
    return None


def _ends(state: TrainGame, route: str) -> frozenset[str]:
    table = state.own
    return frozenset((table.board.routes[route].a, table.board.routes[route].b))
