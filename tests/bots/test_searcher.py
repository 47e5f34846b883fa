"""The policy searcher: it searches only worlds that look the same to its seat, and leaves the planner's choice
only for a clearly better one."""

from __future__ import annotations

from collections import Counter
from random import Random
from statistics import mean
from typing import Any, Final

import pytest

from schemas.commands import Pass, StartGame
from schemas.trains.commands import ClaimRoute, KeepTickets
from services.bots.searching.candidate_halving import Candidate, CandidateValue, best_of
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.board_graph import TicketEnds
from services.bots.trains.searching.candidates import MOST_LEAD, choose, evaluate_candidates
from services.bots.trains.searching.compact_game import NO_CARD, CompactGame
from services.bots.trains.searching.compact_rules import KINDS, compact_rules
from services.bots.trains.searching.world_sampler import START_TICKETS, WorldSampler
from services.referee.games import GameState, legal
from services.referee.games.state import SeatState
from services.referee.games.trains.determinization import ViewerKnowledge, determinize
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.train_state import SECOND_CARD
from services.tournament.viewed_game import CoreGame, GameSetting
from tests.rules.given import created, given
from tests.rules.hostile_games import hostile_game

SMALL: Final = 24  # rollouts


def position(seed: str, moves: int, rules: str = "usa") -> tuple[GameState, GameState, int]:
    """The referee's state of a game of planners after so many moves (and until no second card is due), the view of
    the seat that acts, and the seat."""
    game = CoreGame(GameSetting(rules), ("planner",) * 2, seed)
    for _ in range(moves):
        game.play_move(min(game.state.pending_choices))
    while SECOND_CARD in game.state.pending_choices.values():
        game.play_move(min(game.state.pending_choices))
    seat = min(game.state.pending_choices)
    return game.state, game.view(seat), seat


def permuted(state: GameState, seat: int, rng: Random) -> GameState:
    """The same to the seat: the decks, others' hands and others' tickets are dealt anew."""

    def shuffle(row: Any) -> Any:
        return rng.sample(row, len(row))

    known = ViewerKnowledge(seat)
    known.hand(seat).update({str(card): n for card, n in state.seats[seat].own.hand.items() if n})
    known.located_tickets.update(
        str(name) for name in (*state.seats[seat].own.tickets, *state.seats[seat].own.offer)
    )
    known.decks = {deck: [None] * len(row) for deck, row in state.own.ticket_decks.items()}
    return determinize(state, known, shuffle)


def everything(game: CompactGame) -> dict[str, Any]:
    return {name: getattr(game, name) for name in CompactGame.__slots__ if name != "rules"}


@pytest.mark.parametrize("moves", [0, 1, 30, 50])
@pytest.mark.parametrize("rules", sorted(TRAIN_RULESETS))
def test_P5_a_sampled_world_does_not_depend_on_what_is_hidden(rules: str, moves: int) -> None:
    state, _, seat = position("hidden", moves, rules)
    other = permuted(state, seat, Random(1))
    assert (
        other.own.deck != state.own.deck and other.seats[1 - seat].own.hand != state.seats[1 - seat].own.hand
    )
    for world in range(3):
        one, same = (
            WorldSampler(each, seat, compact_rules(each)).sample(Random(world)) for each in (state, other)
        )
        assert everything(one) == everything(same)


@pytest.mark.parametrize("moves", [2, 30, 50])
@pytest.mark.parametrize("rules", sorted(TRAIN_RULESETS))
def test_a_sampled_world_has_every_card_and_ticket_once_and_what_the_seat_knows_in_its_place(
    rules: str, moves: int
) -> None:
    state, view, seat = position("whole", moves, rules)
    sampler = WorldSampler(view, seat, compact_rules(view))
    for number in range(5):
        world = sampler.sample(Random(number))
        kinds = KINDS[: world.rules.kind_count]
        cards = [sum(column) for column in zip(*world.hands, world.discards, world.deck, strict=True)]
        for kind in (*world.market, *world.revealed):
            cards[kind] += kind != NO_CARD
        assert cards == [state.rule_options.cards.get(kind, 0) for kind in kinds]
        assert world.hands[seat] == [state.seats[seat].own.hand.get(kind, 0) for kind in kinds]
        assert [sum(hand) for hand in world.hands] == [each.own.cards for each in state.seats]
        assert len(world.tickets[seat]) == len(state.seats[seat].own.tickets)
        assert len(world.tickets[1 - seat]) == ticket_count(state.seats[1 - seat])
        tickets = [*world.tickets[0], *world.tickets[1]]
        for deck, row in enumerate(world.ticket_decks):
            assert all(ticket.deck == deck for ticket in row)
            tickets += row
        assert len(tickets) == len(set(tickets))
        held = [
            len(row) if is_drawn else 0  # a deck from which nothing is drawn any more stays empty
            for row, is_drawn in zip(state.own.ticket_decks.values(), world.rules.tickets_drawn, strict=True)
        ]
        assert [len(row) for row in world.ticket_decks] == held or moves == 2, "some seat is still to choose"


def ticket_count(seat_state: SeatState) -> int:
    return len(seat_state.own.tickets) if seat_state.own.start_tickets_chosen else START_TICKETS


def test_europe_a_seat_has_at_most_one_long_ticket_in_any_world() -> None:
    state, view, seat = position("long", 40, "europe")
    sampler = WorldSampler(view, seat, compact_rules(view))
    long, found = list(state.own.ticket_decks).index("long"), Counter[int]()
    for number in range(40):
        world = sampler.sample(Random(number))
        found[sum(ticket.deck == long for ticket in world.tickets[1 - seat])] += 1
    assert set(found) == {0, 1}


def test_cards_that_another_seat_took_face_up_are_in_its_hand_in_every_world() -> None:
    scene = given(2, hands=[{}, {}])
    scene.state.shuffle_key = ""  # a view
    scene.seat_state(1).own.hand |= {
        None: 3,
        "red": 5,
        "blue": -1,
    }  # it paid with a blue card that nobody saw
    for number in range(20):
        world = WorldSampler(scene.state, 0, compact_rules(scene.state)).sample(Random(number))
        assert sum(world.hands[1]) == 7 and world.hands[1][KINDS.index("red")] >= 5


def test_others_hold_the_tickets_that_their_routes_lead_to_in_most_worlds() -> None:
    way = (
        "dallas-little-rock-a",
        "little-rock-saint-louis-a",
        "pittsburgh-saint-louis-a",
        "new-york-pittsburgh-a",
    )
    scene = given(2, tickets=[[], ["los-angeles:miami", "boston:miami"]], owners=dict.fromkeys(way, 1))
    rules, ticket = compact_rules(scene.state), scene.state.own.board.tickets["dallas:new-york"]
    sampler, city = WorldSampler(scene.state, 0, rules), rules.graph.city_index
    ends = TicketEnds(city[ticket.a], city[ticket.b], ticket.points)
    shares = Counter(each for number in range(100) for each in sampler.sample(Random(number)).tickets[1])
    assert shares[ends] > 60, "evenly dealt it would be in 7 of 100"
    assert len(shares) > 15, "but none is sure"


def test_every_drawer_of_a_world_has_chance_of_its_own_and_every_card_is_as_likely() -> None:
    game = WorldSampler(given(2).state, 0, compact_rules(given(2).state)).sample(Random(0))
    drawn = Counter[tuple[int, int]]()
    for seed in range(4_000):
        world = game.copy()
        world.seed, world.deck = seed, [1, 0, 0, 3, *[0] * (len(KINDS) - 4)]
        drawn[world.take_card(0), world.take_card(1)] += 1
    assert all(
        abs(drawn[kinds] - expected) < 120
        for kinds, expected in {(0, 3): 1_000, (3, 0): 1_000, (3, 3): 2_000}.items()
    )
    one, other = game.copy(), game.copy()
    other.take_card(0)
    other.deck = one.deck[:]
    assert [one.take_card(1) for _ in range(9)] == [other.take_card(1) for _ in range(9)]


# -- the values ------------------------------------------------------------------------------


def values(state: GameState, seat: int, rollouts: int = SMALL) -> tuple[CandidateValue, ...]:
    return evaluate_candidates(state, seat, legal(state, seat), SeatRandom("0f" * 32, 7), rollouts)


@pytest.mark.parametrize(
    ("rules", "moves"), [("usa", 100), ("europe", 100), ("marklin", 100), ("trains", 40)]
)
def test_P5_the_same_view_and_stream_give_the_same_values_whatever_is_hidden(rules: str, moves: int) -> None:
    state, _, seat = position("same", moves, rules)
    expected = values(state, seat)
    assert sum(each.rollouts for each in expected) > 10
    assert values(state.copy(), seat) == expected
    assert values(permuted(state, seat, Random(2)), seat) == expected


def test_a_budget_of_rollouts_is_kept() -> None:
    state, view, seat = position("budget", 40)
    found = values(view, seat, 60)
    assert len(found) > 2 and 40 <= sum(each.rollouts for each in found) <= 60
    assert sum(each.is_planners for each in found) == 1
    assert all(each.command in legal(state, seat) for each in found)


@pytest.mark.parametrize(("leads", "is_left"), [([-9, 11, -9, 11], False), ([-7, 13, -7, 13], True)])
def test_the_planners_choice_is_left_only_for_a_clearly_better_one(leads: list[int], is_left: bool) -> None:
    # given candidates in equal worlds, the other better in the mean, by a sixth or half of a standard error
    planned, other = Candidate(Pass(), is_planners=True), Candidate(Pass())
    planned.leads, other.leads = [0, 0, 0, 0], leads
    # when one is chosen, then chance alone doesn't decide
    assert (choose([planned, other]) is other) is is_left


def test_it_takes_a_route_that_ends_its_ticket_before_anything_else() -> None:
    owners = {"new-york-pittsburgh-a": 0, "pittsburgh-saint-louis-a": 0, "dallas-little-rock-a": 0}
    scene = given(
        2, hands=[{"green": 2, "red": 4}, {}], tickets=[["dallas:new-york"], []], owners=owners, cars=[10, 3]
    )
    scene.state.own.in_last_turns, scene.state.own.seats_with_last_turn = True, {1}
    (best, *others) = values(scene.state, 0)
    assert isinstance(best.command, ClaimRoute) and best.command.route.startswith("little-rock-saint-louis")
    assert best.lead is not None and all(best.lead > (each.lead or -99) for each in others)


def test_it_weighs_every_choice_of_starting_tickets() -> None:
    scene = created(2).when(None, StartGame())
    assert {repr(each.command) for each in values(scene.state, 0)} == {repr(each) for each in scene.legal(0)}
    assert all(isinstance(each.command, KeepTickets) for each in values(scene.state, 0))


def test_worlds_are_dealt_where_a_deck_has_no_tickets() -> None:
    # given a stranger's board, on which one of the decks of its rules is empty
    state = hostile_game(Random(2))
    assert state is not None and not state.own.board.tickets
    # then a world deals all else
    world = WorldSampler(state, 0, compact_rules(state)).sample(Random(0))
    assert len(world.hands) == len(state.seats)


def test_what_wins_more_often_is_chosen_before_what_wins_by_more() -> None:
    # given a lead of 60 now and then, and one that is smaller in the mean but seldom lost
    by_far, often = (Candidate(Pass(), most_lead=MOST_LEAD) for _ in range(2))
    by_far.leads, often.leads = [60, 60, -20, -20], [5, 25, 10, 20]
    # when one is chosen, then it is the second
    assert mean(by_far.leads) > mean(often.leads) and best_of([by_far, often]) is often
