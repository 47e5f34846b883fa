"""Random whole games: seats of several habits, now and then an illegal command, a leave, a lapse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st

from schemas.codec import join_view, pack_entry, pack_part, pack_public, unpack_entry
from schemas.commands import (
    CallTime,
    ClaimRoute,
    Command,
    CreateGame,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    Leave,
    Letter,
    Pass,
    SeatPlan,
    StartGame,
)
from schemas.events import Event, SeatCleared
from schemas.views import Entry, ViewEntry
from schemas.words import COLORS, LOCOMOTIVE, Seat
from services.referee.rules import NotKept, Table, faces, fold_events, judge, legal, seen_by
from tests.rules.given import CREATED, SEED

STEPS_MOST = 3000
SMALL_DECK = {"red": 12, "blue": 12, "green": 8, LOCOMOTIVE: 6}  # soon in hands altogether
HABITS: dict[str, tuple[type[Command], ...]] = {
    "anything": (),
    "claims": (ClaimRoute,),
    "hoards": (DrawBlind, DrawMarket, DrawTickets, KeepTickets),
    "travels": (DrawTickets,),
}


@dataclass
class Play:
    """A whole game under one die: its log, and every viewer's own fold of what it was sent."""

    dice: Random
    seats: int
    habit: str  # of choosing among legal moves
    mischief: float  # how often a command is anything at all
    leaving: float  # how often a seat leaves
    options: dict[str, Any]
    table: Table = field(default_factory=Table, repr=False)
    log: list[bytes] = field(default_factory=list, repr=False)
    views: dict[Seat | None, Table] = field(default_factory=dict, repr=False)
    parts: dict[Seat, int] = field(default_factory=dict, repr=False)
    out: Counter[str] = field(default_factory=Counter, repr=False)  # cards of removed seats
    now: int = CREATED

    def __post_init__(self) -> None:
        self.views = {viewer: Table() for viewer in (None, *range(self.seats))}
        plans = tuple(SeatPlan("bot", "random") for _ in range(self.seats))
        self.say(None, CreateGame(plans, seed=str(self.dice.random()), options=self.options))
        self.say(None, StartGame())

    def steps(self) -> Iterator[int]:
        """Go on to the end, one command at a time."""
        for number in range(STEPS_MOST):
            if self.table.over:
                return
            self.now += self.dice.randrange(2000)
            self.say(*self.wish())
            yield number
        raise AssertionError("the game doesn't end")

    def wish(self) -> tuple[Seat | None, Command]:
        """What somebody asks for next."""
        dice, table = self.dice, self.table
        deadline = table.next_deadline()
        if deadline and CREATED + deadline[0] <= self.now:
            return None, CallTime(deadline[1])
        if dice.random() < self.leaving:
            return dice.randrange(self.seats), Leave()
        if dice.random() < self.mischief:
            return dice.randrange(self.seats), dice.choice(pool(dice, table))
        seat = dice.choice(sorted(table.awaits))
        return seat, self.choice(legal(table, seat))

    def choice(self, commands: list[Command]) -> Command:
        wanted = HABITS[self.habit]
        chosen = [command for command in commands if isinstance(command, wanted)]
        return self.dice.choice(chosen or commands)

    def say(self, seat: Seat | None, command: Command) -> None:
        """The referee's verdict on it, put down in the log and sent to every viewer."""
        hands = [dict(place.hand) for place in self.table.places]
        letter = Letter(f"c{len(self.log)}", "random", seat, command)
        try:
            events = judge(self.table, letter, self.now, SEED)
        except NotKept:
            return
        for event in events:
            if isinstance(event, SeatCleared):
                self.out.update({str(card): n for card, n in hands[event.seat].items()})
        self.write(letter, events)

    def write(self, letter: Letter, events: tuple[Event, ...]) -> None:
        at, turned = self.table.at, faces(events)
        entry = Entry(at, letter.id, letter.seat, letter.command, events)
        self.log.append(pack_entry(entry, turned))
        assert unpack_entry(self.log[-1]) == entry
        number, public = len(self.log), pack_public(at, turned)
        for viewer, view in self.views.items():
            part = None
            answers = letter.id if viewer is not None and viewer == letter.seat else None
            if viewer is not None and (viewer in turned.private or answers):
                part = pack_part(self.parts.get(viewer, 0), answers, turned.private.get(viewer, {}))
                self.parts[viewer] = number
            got = join_view(number, public, part)
            assert got == ViewEntry(number, at, answers, seen(viewer, events))
            fold_events(view, got.at, got.events)


def seen(viewer: Seat | None, events: tuple[Event, ...]) -> tuple[Event, ...]:
    shown = (seen_by(viewer, event) for event in events)
    return tuple(event for event in shown if event is not None)


def a_game(draw: st.DrawFn) -> Play:
    options: dict[str, Any] = {"strict": draw(st.sampled_from([False, False, True]))}
    if draw(st.booleans()):
        options["clock_ms"] = draw(st.sampled_from([20_000, 200_000]))
    if draw(st.sampled_from([False, False, True])):
        options["cards"] = SMALL_DECK
    return Play(
        dice=Random(draw(st.integers(0, 2**32))),
        seats=draw(st.integers(2, 5)),
        habit=draw(st.sampled_from([*HABITS])),
        mischief=draw(st.sampled_from([0, 0.01 if options["strict"] else 0.1])),
        leaving=draw(st.sampled_from([0, 0, 0.01])),
        options=options,
    )


games = st.composite(a_game)()


def pool(dice: Random, table: Table) -> list[Command]:
    """Commands of every kind, most of them wrong."""
    routes = dice.sample(list(table.board.routes.values()), 30)
    commands: list[Command] = [Pass(), DrawBlind(), DrawTickets(), DrawTickets({"regular": 3})]
    commands += [DrawMarket(slot) for slot in range(7)]
    commands += [DrawMarket(color=color) for color in (*COLORS, LOCOMOTIVE, "passenger")]
    commands += [KeepTickets(keep) for keep in ((), (0,), (1,), (0, 1), (2, 0), (0, 0), (0, 1, 2), (3,))]
    commands.append(ClaimRoute("nowhere-a", {"red": 1}))
    for route in routes:
        color = dice.choice(COLORS) if route.color == "gray" else route.color
        for wild in (0, 1, dice.randrange(route.length + 1), route.length):
            plain = max(0, route.length - wild + dice.choice((0, 0, 0, 1)))
            paid = {color: plain, LOCOMOTIVE: wild, dice.choice(COLORS): dice.choice((0, 0, 0, 1))}
            paid = paid if any(paid.values()) else {color: 1}
            commands.append(ClaimRoute(route.id, {c: n for c, n in paid.items() if n}))
    return commands
