"""The rules of bids (examples/games/bids), by their ids; nobody learns a bid before both are laid."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from types import ModuleType

import pytest

from schemas.commands import CallTime, Command, CommandEnvelope, CreateGame, Leave, SeatPlan, StartGame
from schemas.events import CommandRefused, Event, GameEnded, SeatGone
from schemas.field_types import HIDDEN, Seat
from services.bots.searching.any_game import _Search
from services.fuzz import Arena, Quota, search_batch
from services.referee.games import (
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    fold_events,
    legal,
    redact_for,
)
from services.referee.games.proof.pile_tracker import CARD_PILE, PileTracker
from services.referee.games.state import Seen
from services.text.sentences import event_sentence
from services.tournament.viewed_game import CoreGame, GameSetting
from tests.games.added_package import BIDS, added_package

SEED = "5e" * 32
VIEWERS = (None, 0, 1)


@pytest.fixture(scope="module")
def bids() -> Iterator[ModuleType]:
    with added_package(BIDS, "ledgerline_bids", "BIDS") as package:
        yield package


class Table:
    """A game of bids of two bots, each entry also as every viewer sees it."""

    def __init__(self, bids: ModuleType, **options: object) -> None:
        self.bids, self.now_ms = bids, 0
        self.state, self.views = GameState(), {viewer: GameState() for viewer in VIEWERS}
        self.log: list[Event] = []
        seats = tuple(SeatPlan("bot", "random") for _ in range(2))
        self.send(None, CreateGame(seats, ruleset="bids", seed="golden", options=options))
        self.send(None, StartGame())

    def send(self, seat: Seat | None, command: Command) -> tuple[Event, ...]:
        envelope = CommandEnvelope("test", "a-game", seat, command)
        events = decide_envelope(self.state, envelope, self.now_ms, SEED)
        for viewer, view in self.views.items():
            seen = [shown for event in events if (shown := redact_for(viewer, event)) is not None]
            fold_events(view, self.state.at_ms, seen)
        self.log += events
        return events

    def bid(self, seat: Seat, bid: str) -> tuple[Event, ...]:
        return self.send(seat, self.bids.LayBid(bid))

    def round(self, first: str, second: str) -> tuple[Event, ...]:
        return self.bid(0, first) + self.bid(1, second)

    def prize(self) -> int:
        return int(self.state.own.prizes[-1].split("-")[1])

    def points(self) -> list[int]:
        return [seat_state.own.points for seat_state in self.state.seats]


@pytest.fixture
def table(bids: ModuleType) -> Table:
    return Table(bids)


def test_PRIZE_1_thirteen_prizes_are_shuffled_and_turned_up_one_by_one(table: Table) -> None:
    turned = [table.state.own.prizes[-1]]
    for bid in table.bids.BIDS_OF_SEAT[:-1]:
        table.round(bid, bid)
        turned.append(table.state.own.prizes[-1])
    assert sorted(turned) == sorted(table.bids.PRIZES)
    assert turned != [*table.bids.PRIZES]


def test_PRIZE_1_the_proof_of_the_deal_has_each_prize_as_it_is_turned_up(table: Table) -> None:
    table.round("1", "1")
    piles = PileTracker()
    changes = [change for event in table.log if (change := piles.apply(event)) is not None]
    assert [change.names for change in changes[1:]] == [(prize,) for prize in table.state.own.prizes]
    assert [change.salt_recipient for change in changes] == [None] * 3
    assert piles.runs[CARD_PILE] == [(0, 2, 13)]


def test_BID_1_both_seats_are_asked_at_the_same_time_and_may_lay_what_they_have(table: Table) -> None:
    assert set(table.state.pending_choices) == {0, 1}
    assert table.state.turn is None
    for seat in (0, 1):
        for state in (table.state, table.views[seat]):
            assert legal(state, seat) == [table.bids.LayBid(bid) for bid in table.bids.BIDS_OF_SEAT]


def test_BID_1_a_bid_is_laid_once(table: Table) -> None:
    table.round("3", "4")
    (refusal,) = table.bid(0, "3")
    assert isinstance(refusal, CommandRefused)
    assert (refusal.rule, refusal.why) == ("BID-1", "you have no bid 3")


def test_TURN_1_who_has_bid_waits_for_the_other(table: Table) -> None:
    table.bid(1, "3")
    assert legal(table.state, 1) == []
    (refusal,) = table.bid(1, "4")
    assert isinstance(refusal, CommandRefused)
    assert (refusal.rule, refusal.why) == ("TURN-1", "you have chosen, and others haven't yet")


def test_BID_2_the_higher_bid_takes_the_prize_whoever_lays_first(table: Table) -> None:
    first = table.prize()
    table.round("3", "4")
    second = table.prize()
    table.bid(1, "5")
    table.bid(0, "13")
    assert table.points() == [second, first]


def test_BID_2_equal_bids_take_nothing_and_the_prizes_stay(table: Table) -> None:
    first = table.prize()
    table.round("7", "7")
    assert table.points() == [0, 0]
    second = table.prize()
    assert table.state.own.prizes == [f"prize-{first}", f"prize-{second}"]
    table.round("9", "8")
    assert table.points() == [first + second, 0]


def test_SCORE_1_the_prizes_are_the_points_and_what_nobody_took_counts_for_nobody(table: Table) -> None:
    for first, second in zip(
        table.bids.BIDS_OF_SEAT, (*table.bids.BIDS_OF_SEAT[1:12], "1", "13"), strict=True
    ):
        last = table.round(first, second)
    ended = last[-1]
    assert isinstance(ended, GameEnded)
    totals = [score.total for score in ended.scores]
    assert totals == table.points()
    assert sum(totals) < sum(range(14))
    assert [score.place for score in ended.scores] == [2 - (total == max(totals)) for total in totals]
    with pytest.raises(UnloggedRejectionError, match="GAME-3"):
        table.bid(0, "1")


@pytest.mark.parametrize("has_bid", [False, True])
def test_CONDUCT_3_who_leaves_comes_last_and_the_game_is_counted(table: Table, has_bid: bool) -> None:
    table.round("13", "1")
    if has_bid:
        table.bid(0, "12")
    gone, *_, ended = table.send(0, Leave())
    assert isinstance(gone, SeatGone)
    assert isinstance(ended, GameEnded)
    assert [score.place for score in ended.scores] == [2, 1]
    assert ended.scores[0].total > 0


def test_CLOCK_2_time_runs_for_both_until_each_has_bid(bids: ModuleType) -> None:
    table = Table(bids, move_ms=10_000)
    table.now_ms = 9_000
    table.bid(0, "3")
    table.now_ms = 10_000
    (refusal,) = table.send(None, CallTime(0))
    assert isinstance(refusal, CommandRefused)
    assert table.state.next_deadline() == (10_000, 1)
    gone, *_, ended = table.send(None, CallTime(1))
    assert isinstance(gone, SeatGone)
    assert (gone.seat, gone.why) == (1, "out of time")
    assert isinstance(ended, GameEnded)


def test_CLOCK_1_only_the_clock_of_who_is_asked_runs(bids: ModuleType) -> None:
    table = Table(bids, clock_ms=60_000)
    table.now_ms = 1_000
    table.bid(1, "3")
    table.now_ms = 5_000
    table.bid(0, "3")
    assert [seat_state.clock_ms for seat_state in table.state.seats] == [55_000, 59_000]


def test_RATE_1_each_round_begins_with_no_refusals(table: Table) -> None:
    table.bid(0, "14")
    assert table.state.refusal_counts == {0: 1}
    table.round("1", "1")
    assert table.state.refusal_counts == {}


def test_P5_nobody_learns_a_bid_before_both_are_laid(bids: ModuleType) -> None:
    """Two games in which one seat lays other bids look alike to all others until the bid is shown."""
    low, high = Table(bids), Table(bids)
    for table, bid in ((low, "2"), (high, "11")):
        (laid,) = table.bid(0, bid)
        assert redact_for(0, laid) == bids.BidLaid(0, bid)
        for viewer in (None, 1):
            assert redact_for(viewer, laid) == bids.BidLaid(0, HIDDEN)
            assert (
                event_sentence(table.views[viewer], bids.BidLaid(0, HIDDEN))
                == "random 1 lays a card face down."
            )
    for viewer in (None, 1):
        ours, theirs = low.views[viewer], high.views[viewer]
        assert [seat.own for seat in ours.seats] == [seat.own for seat in theirs.seats]
        assert [*bids.describe(ours, viewer)] == [*bids.describe(theirs, viewer)]
    assert legal(low.views[1], 1) == legal(high.views[1], 1)
    low.bid(1, "5")
    assert low.views[None].seats[1].own.points == low.views[1].seats[1].own.points == low.points()[1] > 0


def test_a_world_has_any_bid_in_place_of_one_laid_unseen_and_the_prizes_in_any_order(table: Table) -> None:
    table.round("3", "4")
    table.bid(0, "7")
    search = _Search(table.views[1], 1, 1, 1)
    worlds = [search.sample(Random(number)) for number in range(200)]
    left = [bid for bid in table.bids.BIDS_OF_SEAT if bid != "3"]
    assert {world.seats[0].own.laid[0] for world in worlds} == {*left}
    assert {world.own.deck[-1] for world in worlds} == {*table.state.own.deck}
    for world in worlds:
        assert sorted(world.own.deck) == sorted(table.state.own.deck)
        assert world.seats[1].own == table.state.seats[1].own
    assert table.views[1].seats[0].own.laid == [HIDDEN], "the view itself stays as it was"


def test_what_a_seat_has_laid_itself_lies_in_each_of_its_worlds(table: Table) -> None:
    table.bid(0, "7")
    seen = Seen(0, table.views[0])
    dealt = table.bids.deal_afresh(table.state, seen, lambda row: [*reversed(row)])
    assert dealt.seats[0].own.laid == ["7"]


@pytest.mark.long
def test_searcher_plays_bids_and_wins_more_often_than_random(bids: ModuleType) -> None:
    won = 0.0
    for number in range(12):
        policies = ["searcher", "random"] if number % 2 else ["random", "searcher"]
        result = CoreGame(GameSetting("bids"), policies, f"b{number}").play_to_end().result
        assert result is not None
        winners = [score.seat for score in result.scores if score.place == 1]
        won += (number % 2 ^ 1 in winners) / len(winners)
    assert won >= 8


@pytest.mark.long
def test_random_play_finds_nothing_in_bids(bids: ModuleType) -> None:
    result = search_batch(Arena("bids"), "test", Quota(8))
    assert (result.found, result.games) == (None, 8)
