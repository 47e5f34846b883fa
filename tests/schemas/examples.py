"""Hand-made commands and events, at least one of every type."""

from __future__ import annotations

from typing import Final

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
    Pass,
    SeatPlan,
    StartGame,
    TakeSeat,
)  # fmt: skip
from schemas.events import (
    CardDrawn,
    CommandRefused,
    DeckShuffled,
    Event,
    GameCreated,
    GameEnded,
    GameStarted,
    HandDealt,
    LastTurnsBegan,
    MarketCardTaken,
    MarketFilled,
    MarketFlushed,
    Passed,
    RouteClaimed,
    SeatCleared,
    SeatGone,
    SeatScore,
    SeatTaken,
    SeedSealed,
    TicketsKept,
    TicketsOffered,
    TicketsReturned,
    TicketsShown,
    TicketsShuffled,
    TurnStarted,
)  # fmt: skip
from schemas.parameters import Parameters

# Whatever is hidden in these events is one of these, so that a test can look for it in bytes.
SEED: Final = "5eed" * 16
LUCK: Final = "d1ce" * 16
TICKET: Final = "a-hidden-ticket"
CARD: Final = "locomotive4"
WHY: Final = "a reason for one seat only"
UNSEEN: Final = (SEED, LUCK, TICKET, CARD, WHY)

FIGURES: Final = Parameters(
    seats_least=2, seats_most=5, cars=45, cards={"red": 12, "locomotive": 14}, hand=4, market=5,
    flush={"locomotive": 3}, flush_most=3, start_tickets={"all": 3}, start_keep=2, draw_tickets={"all": 3},
    draw_keep=1, route_points=(1, 2, 4, None, 10), parallel_seats=4, last_cars=2, longest_bonus=10,
    clock_ms=None, strict=False, refusals_kept=20,
)  # fmt: skip

PLANS: Final = (SeatPlan(), SeatPlan("bot", "greedy", "Ada"))

COMMANDS: Final[tuple[Command, ...]] = (
    CreateGame(PLANS),
    CreateGame(PLANS, "usa", "usa", "a seed", {"cars": 20, "cards": {"red": 3}, "route_points": (1, None)}),
    TakeSeat("Zoë"),
    TakeSeat("Zoë the Third", 7),
    StartGame(),
    DrawBlind(),
    DrawMarket(slot=0),
    DrawMarket(color="locomotive"),
    DrawTickets(),
    DrawTickets({"long": 1, "short": 3}),
    KeepTickets(()),
    KeepTickets((0, 2)),
    ClaimRoute("denver-omaha", {"purple": 3, "locomotive": 1}),
    Pass(),
    Leave(),
    CallTime(3),
)

OPEN: Final[tuple[Event, ...]] = (  # nothing in these is hidden from anybody
    GameCreated("game-1", "usa", 1, "usa", "ab" * 32, FIGURES, PLANS, 1_700_000_000_000),
    SeatTaken(0, "Zoë", None, None),
    GameStarted(),
    MarketFilled((0, 4), ("red", "locomotive")),
    MarketFlushed(),
    TurnStarted(2),
    MarketCardTaken(2, 4, "locomotive"),
    RouteClaimed(1, "denver-omaha", {"purple": 3, "locomotive": 1}, 7),
    Passed(0),
    LastTurnsBegan((1, 2, 0)),
    SeatGone(1, "out of time"),
    SeatCleared(1),
    TicketsShown(0, ("boston-miami",)),
    GameEnded("last turns", (SeatScore(0, 40, ("boston-miami",), (), 12, 20, 10, 62, 1),)),
    CommandRefused(None, "GAME-4", "seat 1 isn't free"),
)

HIDING: Final[tuple[Event, ...]] = (  # something in each of these isn't for everybody
    SeedSealed("cd" * 32, SEED),
    SeatTaken(1, "Ada", "greedy", LUCK),
    DeckShuffled((CARD, CARD)),
    TicketsShuffled("all", (TICKET, TICKET)),
    HandDealt(1, (CARD, CARD, CARD)),
    TicketsOffered(1, ("all", "all"), (TICKET, TICKET), 1),
    TicketsKept(1, (TICKET,)),
    TicketsReturned(1, "all", (TICKET,)),
    CardDrawn(1, CARD),
    CommandRefused(1, "TURN-1", WHY),
)

EVENTS: Final = (*OPEN, *HIDING)
