"""Answers to a dispute: what follows from a seat's own view while the game runs, and what its reason names.

What a reason names is looked up: seats, rules, entries, and what the game brings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any, Final, NamedTuple

from schemas.commands import Command, Pass
from schemas.contract import Json
from schemas.events import FIELDS, CommandRefused, Event, Passed
from schemas.field_types import HIDDEN, Seat
from schemas.refusals import CommandRefusedError
from schemas.registry import OfItsGame
from schemas.stored.entries import Entry, ViewEntry
from schemas.web.disputes import DisputeMove
from services.referee.games import GameState, fold_events, legal
from services.referee.games.appliers import advance_clocks
from services.referee.games.decide import decide_events
from services.referee.games.fair_randomness import no_order_root
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.view_verifier import ViewVerifier
from services.referee.games.state import RandomnessPolicy
from services.text.formatting import fill_in
from services.verification.explanation import (
    Explanation,
    apply_shown,
    cite,
    has_rule,
    known_rules,
    rules_on,
    seat_explanation_json,
)
from services.verification.replay import TimedEvents

HIDDEN_COMMAND: Final = Pass()  # stands for another's command, which `seat_explanation_json` leaves out
OTHERS_MOVE_ANSWER: Final = (
    "What you were shown of this move is in order. All of it is shown when the game is over."
)
RULES_AGREE_ANSWER: Final = "On what you could see, the rules give just this verdict."


def _hidden_order(state: GameState, row: Sequence[str]) -> tuple[Any, ...]:  # Any: no names, but HIDDEN
    return (HIDDEN,) * len(row)


HIDDEN_RANDOMNESS: Final = RandomnessPolicy(_hidden_order, no_order_root)  # of a viewer, who has no seed


def fold_view(view: Sequence[ViewEntry]) -> GameState:
    """The state as the seat sees it."""
    state = GameState()
    for entry in view:
        fold_events(state, entry.at, entry.events)
    return state


def seat_visible_answer(
    game: str, seat: Seat, view: Sequence[ViewEntry], sequence: int, command: Command | None
) -> Json:
    """The answer about an entry, as a JSON object. `command` is the entry's if the seat sent it itself."""
    before, shown_entry = fold_view(view[: sequence - 1]), view[sequence - 1]
    proof_error = verify_shown(game, seat, view[:sequence])
    doubt = "" if command is None else own_verdict_doubt(before, seat, shown_entry, command)
    perspective = apply_shown(before, shown_entry.at, shown_entry.events)
    sender, answers = seat if command else None, shown_entry.answers or ""
    entry = Entry(shown_entry.at, answers, sender, command or HIDDEN_COMMAND, shown_entry.events)
    explanation = Explanation(
        sequence,
        entry,
        {"referee": perspective, seat: perspective},  # the seat's own stands for both
        cite(perspective.after.ruleset.name, entry) if command else (),
        tuple(legal(perspective.before, seat)) if command else (),
        doubt,
    )
    return {
        "scope": "so far",
        "number": sequence,
        "verdict": proof_error or doubt or (RULES_AGREE_ANSWER if command else OTHERS_MOVE_ANSWER),
        "shown_as_committed": not proof_error,
        "as_the_rules_say": not doubt if command else None,
        "move": seat_explanation_json(explanation, seat),
    }


def verify_shown(game: str, seat: Seat, view: Sequence[ViewEntry]) -> str:
    """Say from which entry on the view doesn't fit the commitments, and why; empty if it does."""
    view_verifier = ViewVerifier(game, seat)
    try:
        for entry in view:
            view_verifier.verify(entry)
    except VerificationFailedError as error:
        return f"What you were shown doesn't fit what was committed to, from entry {error.sequence} on: {error.reason}."
    return ""


def own_verdict_doubt(before: GameState, seat: Seat, shown_entry: ViewEntry, command: Command) -> str:
    """Say how the verdict on a seat's own command differs from the rules' on the state that it saw; empty if it doesn't.
    Only the first event is compared, since later ones may be hidden."""
    shown_event = shown_entry.events[0] if shown_entry.events else None
    shown_refusal = shown_event if isinstance(shown_event, CommandRefused) else None
    try:
        first_event = decide_on_view(before.copy(), shown_entry.at, seat, command)
    except CommandRefusedError as refusal:
        if shown_refusal is None or shown_refusal.rule != refusal.rule:
            return f"On what you could see, the rules refuse it: {refusal.rule}, {refusal.reason}."
        return ""
    if shown_refusal is not None:
        return "On what you could see, the rules accept it."
    if type(first_event) is not type(shown_event):
        return "On what you could see, the rules have something else come of it."
    return ""


def decide_on_view(state: GameState, at_ms: int, seat: Seat, command: Command) -> Event | None:
    """The first event of a seat's command on a state as a viewer sees it, which becomes the state at that time.
    Raises CommandRefusedError."""
    advance_clocks(state, at_ms)
    state.ruleset = replace(state.ruleset, randomness=HIDDEN_RANDOMNESS)
    return next(iter(decide_events(state, seat, command)), None)


NOTHING_NAMED: Final = "Your reason names no seat, cards, place, rule or entry that could be looked up."
_SEAT: Final = re.compile(r"\b[Ss]eat ([0-7]|[A-H])\b")
_ENTRY: Final = re.compile(r"\b(?:entry|move) (\d{1,9})\b", re.IGNORECASE)
_RULE: Final = re.compile(r"\b[A-Z]+-\d\b", re.IGNORECASE)
_MOST_ENTRIES: Final = 3  # that are looked up for one reason: each folds the game again


class Named(NamedTuple):
    """The things that a reason names."""

    seats: frozenset[Seat]
    cards: Mapping[str, int | None]  # how many of each kind; None where no number stands before it
    places: frozenset[str]
    rules: tuple[str, ...]
    entries: tuple[int, ...]

    def fits(self, act: Act) -> bool:
        """Whether an act is of such a seat, with just these cards, in these places."""
        held = {card: act.cards.get(card, 0) for card in self.cards}
        return (
            (not self.seats or act.seat in self.seats)
            and all(held[card] and count in (None, held[card]) for card, count in self.cards.items())
            and self.places <= act.places
        )


class Act(NamedTuple):
    """Something that a seat did, as it was shown."""

    number: int  # of its entry
    seat: Seat
    text: str  # in the past: "played the queen of hearts"
    cards: Mapping[str, int]
    places: frozenset[str] = frozenset()
    command: Command | None = None  # that the rules can decide on again
    is_payment: bool = False  # or any act, in a game in parts
    event: Event | None = None  # a refusal; or, in a game in parts, what one of the seat's commands comes to

    @property
    def sentence(self) -> str:
        return f"seat {self.seat} {self.text}"


class OwnActs(NamedTuple):
    """How a family of games, which isn't told by its parts, reads reasons and the acts of its seats."""

    names_in: Callable[
        [GameState, str], tuple[Mapping[str, int | None], Collection[str]]
    ]  # cards and places of a text
    before: Callable[[GameState], OfItsGame]  # what reading an entry's acts takes of the state before it
    act_of: Callable[
        [GameState, int, Event, OfItsGame], Act | None
    ]  # of an entry: the state after it, its number, and that
    hold: Callable[
        [GameState, Seat, Mapping[str, int]], None
    ]  # let a seat hold what an act takes from its hidden hand
    paid_by: Mapping[type[Command], str]  # the rule of a payment
    hidden_rule: str  # of what a hand holds


OWN_ACTS: Final[dict[type, OwnActs]] = {}  # by the class of the game's own state


def _own_acts(state: GameState) -> OwnActs | None:
    return OWN_ACTS.get(type(state.own)) if state.game else None


def answer_on_reason(
    dispute: DisputeMove, shown: Sequence[TimedEvents], names: Mapping[str, str], viewer: Seat | None
) -> str:
    """What the reason names, looked up in the entries that the viewer was shown (None: the referee's, with all hands).

    `names` are the players', by their commitments; the answer has none of them."""
    state, acts = GameState(names), list[Act]()
    for number, (at_ms, events) in enumerate(shown, 1):
        own = _own_acts(state)
        before = None if own is None else own.before(state)
        fold_events(state, at_ms, events)
        acts += _acts_of(state, number, events, before)
    named = read_reason(dispute.reason, state, acts)
    if not any(named):
        return NOTHING_NAMED
    judge = _Judge(shown, viewer, named.rules)
    sentences = [_on_entry(dispute.number, named, acts, judge)]
    sentences += [_on_other(n, acts, judge) for n in named.entries if n != dispute.number]
    sentences += judge.about_rules(state.ruleset.name)
    return " ".join(sentences)


def read_reason(reason: str, state: GameState, acts: Sequence[Act] = ()) -> Named:
    """The things that a reason names: seats by number, letter or name; cards with or without a number, of a game in
    parts those of its acts; places; ids of rules; numbers of entries."""
    seats = {int(found) if found.isdigit() else ord(found) - ord("A") for found in _SEAT.findall(reason)}
    rest = _ENTRY.sub(" ", _SEAT.sub(" ", reason))
    for seat, seat_state in enumerate(state.seats):
        called = re.compile(rf"(?<!\w){re.escape(seat_state.name)}(?!\w)", re.IGNORECASE)
        if seat_state.name and called.search(rest):
            seats.add(seat)
            rest = called.sub(" ", rest)
    words, own = words_of(rest), _own_acts(state)
    cards: Mapping[str, int | None] = {
        card: None for act in acts for card in act.cards if words_of(card) in words
    }
    places: Collection[str] = ()
    if own is not None:
        cards, places = own.names_in(state, rest)
    rules = (rule.upper() for rule in _RULE.findall(reason))
    return Named(
        frozenset(seat for seat in seats if seat < len(state.seats)),
        cards,
        frozenset(places),
        tuple(dict.fromkeys(rule for rule in rules if rule in known_rules())),
        tuple(dict.fromkeys(int(number) for number in _ENTRY.findall(reason)))[:_MOST_ENTRIES],
    )


def words_of(text: str) -> str:
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
    if not (named.cards or named.places or named.seats):
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
    return ", ".join((*seats, *cards, *sorted(named.places)))


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
        own, known = _own_acts(state), rules_on(state.ruleset.name, act.command)
        self.deciding.update(known)
        paid_by = own.paid_by.get(type(act.command), "") if own else ""
        rule = next((rule for rule in self.rules if rule in known), "") or paid_by
        is_hidden = self.viewer not in (None, act.seat)
        if is_hidden and own:  # its hand holds what it plays, or nobody may know yet
            own.hold(state, act.seat, act.cards)
        try:
            decide_on_view(state, self.shown[act.number - 1][0], act.seat, act.command)
        except CommandRefusedError as refusal:
            return f", which is against {refusal.rule}: {refusal.reason}"
        if is_hidden and own and rule == own.hidden_rule:
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


def _acts_of(state: GameState, number: int, events: Sequence[Event], before: OfItsGame) -> Iterator[Act]:
    """The acts of seats in an entry, after which this is the state; `before` is what its family asks of the one before."""
    own = _own_acts(state)
    for event in events:
        act = None if own is None else own.act_of(state, number, event, before)
        if act is None and event.sentence.startswith("{seat} "):
            act = _act_in_parts(state, number, event, is_first=event is events[0])
        if act is None:
            act = _plain_act(number, event)
        if act is not None:
            yield act


def _act_in_parts(state: GameState, number: int, event: OfItsGame, *, is_first: bool) -> Act:
    """An act as its game's own sentence tells it, and what it names; only the first of an entry is a seat's choice."""
    values = [getattr(event, name) for name in FIELDS[type(event)]]
    names = chain.from_iterable(value if isinstance(value, tuple) else (value,) for value in values)
    text = fill_in(state, event.sentence.removeprefix("{seat} "), event).removesuffix(".")
    cards = Counter(name for name in names if isinstance(name, str))
    return Act(number, event.seat, text, cards, is_payment=True, event=event if is_first else None)


def _plain_act(number: int, event: Event) -> Act | None:
    """An act of any game; None for an event that no seat acts in."""
    match event:
        case Passed():
            return Act(number, event.seat, "passed", {}, command=Pass())
        case CommandRefused(seat=int() as seat):
            return Act(number, seat, f"was refused by {event.rule}: {event.why}", {}, event=event)
    return None
