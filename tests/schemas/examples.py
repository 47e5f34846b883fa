"""Hand-made commands and events, at least one of every type."""

from __future__ import annotations

from typing import Final

from schemas.commands import (
    AnswerUndo,
    AskUndo,
    CallTime,
    Command,
    CreateGame,
    EndGame,
    ForkGame,
    FreeSeat,
    Leave,
    Pass,
    PlayOff,
    SeatBot,
    SeatPlan,
    StartGame,
    TakeSeat,
)
from schemas.events import (
    AccessSet,
    CommandRefused,
    DeckShuffled,
    Event,
    GameCreated,
    GameEnded,
    GameForked,
    GameStarted,
    HandDealt,
    MoveUndone,
    Passed,
    PlayOffCalled,
    PlayOffEnded,
    PlayResumed,
    SeatCleared,
    SeatFreed,
    SeatGone,
    SeatTaken,
    SeedRevealed,
    SeedSealed,
    TurnStarted,
    UndoAnswered,
    UndoAsked,
)
from schemas.field_types import as_logged
from schemas.game_options import Fork
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm, CityForm, RouteForm, TicketForm
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.events import (
    CardDrawn,
    CardsGiven,
    ChoiceLaid,
    DeckKnown,
    DeckLaid,
    DeckRecreated,
    HandLaid,
    HandReturned,
    LastTurnsBegan,
    MarketCardTaken,
    MarketFilled,
    MarketFlushed,
    MixAsked,
    MomentLaid,
    PassengerMoved,
    PassengerPlaced,
    PositionLaid,
    RequestUnmet,
    RevealedDiscarded,
    RouteClaimed,
    StationBuilt,
    TicketsKept,
    TicketsLaid,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TicketsShown,
    TicketsShuffled,
    TrainScore,
    TunnelDeclined,
    TunnelRevealed,
)
from schemas.trains.positions import Position, StationGiven, TicketGiven
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA, RuleOptions

# Whatever is hidden in these events is one of these, so that a test can look for it in bytes.
SEED: Final = "5eed" * 16
SEAT_SECRET: Final = "d1ce" * 16
TICKET: Final = "a-hidden-ticket"
CARD: Final = "locomotive4"
WHY: Final = "a reason for one seat only"
MIX: Final = "a-mix-of-its-own"
UNSEEN: Final = (SEED, SEAT_SECRET, TICKET, CARD, WHY, MIX)

RULE_OPTIONS: Final = RuleOptions(
    seats_least=2, seats_most=5, order="age", cars=45, cards={"red": 12, "locomotive": 14}, hand=4, market=5,
    flush={"locomotive": 3}, flush_most=3, start_tickets={"all": 3}, start_named=0, start_keep=2,
    start_keep_most=None, start_return="out", draw_tickets={"all": 3}, draw_named=4, draw_keep=1,
    pair_tickets=10, route_points=(1, 2, 4, None, 10), points_at_once=True, parallel_seats=4,
    parallel_owned=False, last_cars=2, last_turns="others", longest_bonus=10, most_tickets_bonus=10,
    tunnel_cards=3, station_costs=(1, 2, 3), station_points=4, passengers=3, merchandise={"red": (4, 3, 2)},
    plus_four_least=4, play_off=5, clock_ms=None, move_ms=86_400_000, strict=False, refusals_kept=20,
)  # fmt: skip

BOARD: Final = BoardForm(
    1, "lakes", "Three lakes", (300, 200),
    (CityForm("north", "North", (150, 20), True), CityForm("east", "East", (280, 120), False, "red", True)),
    (RouteForm("n-e", ("north", "east"), 2, "gray", "ferry", 1),),
    (TicketForm("n:e", ("north", "east"), 6, "regular"),),
    "marklin", {"cars": 20}, ("the red stack",), ("the lake",),
)  # fmt: skip
SERIES: Final = PlayOff("game-1", 2, (0, 2), (1, 0))
POSITION: Final = Position(
    turn=1, hands=({"red": 3}, {}), market=("red", None), deck=("blue",), discard={"green": 0},
    routes={"denver-omaha": 1}, cars=(45, 41), tickets=((TicketGiven(("a", "b"), 8),), ()),
    ticket_decks={"regular": ()}, stations={"wien": StationGiven(1, "budapest"), "roma": StationGiven(0)},
    passengers={"koeln": 0}, tokens={"berlin": (7, 6)}, merchandise=(0, 3), points=(-4, 7),
)  # fmt: skip

FORK: Final = Fork("game-1", 57, 1, True, 2, ((34, ("red", "blue")), (53, 1, "regular", ("a:b:8", None))))

PLANS: Final = (SeatPlan(), SeatPlan("bot", "greedy", "Ada", 36))

COMMANDS: Final[tuple[Command, ...]] = (
    CreateGame(PLANS),
    CreateGame(PLANS, "usa", "usa", "a seed", {"cars": 20, "cards": {"red": 3}, "route_points": (1, None)}),
    CreateGame(PLANS, board={"format": 1, "id": "mine", "routes": [{"length": 2}]}),
    CreateGame(PLANS, "europe", position=POSITION),
    CreateGame(PLANS, position=Position()),
    CreateGame(PLANS, play_off=SERIES),
    CreateGame(PLANS, fork=FORK),
    CreateGame(PLANS, visibility="players", spectator_delay=5, by_invitation=True),
    CreateGame(PLANS, suggestions=False),
    ForkGame("game-1", 57),
    ForkGame("game-1", 1, 7),
    TakeSeat("Zoë"),
    TakeSeat("Zoë the Third", 7, 90, "0e" * 32),
    StartGame(),
    DrawBlind(),
    DrawMarket(slot=0),
    DrawMarket(color="locomotive"),
    DrawTickets(),
    DrawTickets({"long": 1, "short": 3}),
    KeepTickets(()),
    KeepTickets((0, 2)),
    ClaimRoute("denver-omaha", {"purple": 3, "locomotive": 1}),
    ClaimRoute("berlin-leipzig", {"locomotive4": 4}, "leipzig"),
    PayTunnel({"red": 1, "locomotive": 1}),
    DeclineTunnel(),
    BuildStation("wien", {"red": 1}),
    BuildStation("wien", {"red": 2, "locomotive": 1}, "budapest"),
    MovePassenger("koeln", ("koeln-mainz-a", "mainz-mannheim")),
    RequestCards(),
    Pass(),
    Leave(),
    AskUndo(),
    AnswerUndo(agrees=True),
    CallTime(3),
    EndGame(),
    FreeSeat(1),
    SeatBot(1, "greedy"),
)

OPTIONS_WRITTEN: Final = as_logged(RULE_OPTIONS_SCHEMA.write(RULE_OPTIONS))
BOARD_WRITTEN: Final = as_logged(BOARD_SCHEMA.write(BOARD, exclude_defaults=True))
OPEN: Final[tuple[Event, ...]] = (  # nothing in these is hidden from anybody
    GameCreated("game-1", "usa", 1, "usa", "ab" * 32, None, OPTIONS_WRITTEN, PLANS, None, 1_700_000_000_000, 0),
    GameCreated("game-1", "usa", 1, "lakes", "ab" * 32, BOARD_WRITTEN, OPTIONS_WRITTEN, PLANS, SERIES, 1_700_000_000_000, 250),
    AccessSet("players", 5, True, True, "consent"),
    AccessSet("public", 0, False, False, "free"),
    SeatFreed(1),
    UndoAsked(1),
    UndoAnswered(0, agrees=False),
    MoveUndone(1),
    GameStarted((1, 2, 0)),
    MarketFilled((0, 4), ("red", "locomotive")),
    MarketFlushed(),
    MixAsked(2),
    TurnStarted(2),
    MarketCardTaken(2, 4, "locomotive"),
    RequestUnmet(2),
    RouteClaimed(1, "denver-omaha", {"purple": 3, "locomotive": 1}, 7),
    TunnelRevealed(1, "bern-zurich", {"red": 2}, ("red", "locomotive", "blue"), 2),
    TunnelDeclined(1),
    RevealedDiscarded(),
    StationBuilt(1, "wien", {"red": 1}, None),
    StationBuilt(1, "wien", {"red": 1}, "budapest"),
    PassengerPlaced(0, "koeln"),
    PassengerMoved(0, "koeln", ("koeln-mainz-a",), 1, ("mainz",), 3),
    Passed(0),
    LastTurnsBegan((1, 2, 0)),
    SeatGone(1, "out of time"),
    SeatCleared(1),
    TicketsShown(0, ("boston-miami",)),
    PositionLaid(
        1, ("red", None), {"green": 2}, {"denver-omaha": 1}, (45, 41), (-4, 7),
        {"wien": StationGiven(1, "budapest"), "roma": StationGiven(0)}, {"koeln": 0}, {"berlin": (7, 6)},
        (0, 3), (TicketForm("a:b:8", ("a", "b"), 8, "regular"),),
    ),
    GameEnded(
        "no change",
        (TrainScore(0, 40, ("boston-miami",), ("a:b",), 12, 20, ("a-b", None), 20, 10, 10, 4, 7, 83, 1),),
    ),
    PlayOffCalled("game-1-po2", SERIES, (0, 1)),
    PlayOffEnded("game-1", (0, 2)),
    SeedRevealed("0d" * 32),
    GameForked("game-1", 57, None, False),
    MomentLaid(
        (1, 0), 1, ((1, "tunnel", 4000), (0, "mix", None)), ("bern-zurich", {"red": 2}, ("red", "blue"), 1),
        True, (0,), (1,), (True, False), (None, "left"), (0, 1000), (3, 2), ({"red": 2}, {}),
    ),
    MomentLaid(
        (0,), None, (), None, False, (), (), (True,), (None,), (0,), (0,), ({},),
    ),
    PlayResumed(),
    CommandRefused(None, "GAME-4", "seat 1 isn't free"),
)  # fmt: skip

HIDING: Final[tuple[Event, ...]] = (  # something in each of these isn't for everybody
    SeedSealed("cd" * 32, True, SEED),
    SeatTaken(1, "Ada", "greedy", 36, SEAT_SECRET, "0f" * 32, "server"),
    SeatTaken(1, None, None, 36, SEAT_SECRET, "0f" * 32, "seat", "0a" * 32),
    DeckShuffled((CARD, CARD), "ef" * 32),
    DeckRecreated((CARD, CARD), "ef" * 32),
    HandReturned(1, (CARD, CARD)),
    TicketsShuffled("all", (TICKET, TICKET), "ef" * 32),
    HandDealt(1, (CARD, CARD, CARD)),
    TicketsOffered(1, ("all", "all"), (TICKET, TICKET), 1),
    TicketsKept(1, (TICKET,)),
    TicketsReturned(1, "all", "shuffled", (TICKET,)),
    CardDrawn(1, CARD),
    CardsGiven(1, (CARD, CARD)),
    TicketsNamed(1, {MIX: 4}),
    DeckLaid((CARD,)),
    TicketsLaid("all", (TICKET,)),
    HandLaid(1, (CARD, CARD), (TICKET,)),
    ChoiceLaid(1, (TICKET, TICKET), 1, True, {MIX: 4}),
    DeckKnown(1, "all", (None, TICKET)),
    CommandRefused(1, "TURN-1", WHY),
)

EVENTS: Final = (*OPEN, *HIDING)
