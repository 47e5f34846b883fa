"""Determinization: what a viewer can't locate is dealt afresh; what it can locate stays where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, StartGame, TakeSeat, read_command
from schemas.events import HandDealt, MoveUndone
from schemas.field_types import Seat
from schemas.stored.codec import unpack_entry
from schemas.stored.entries import Entry
from schemas.trains.events import RouteClaimed
from services.referee.games import GameState, decide_envelope, fold_events
from services.referee.games.trains.determinization import ViewerKnowledge, collect_knowledge, determinize
from tests.long_runs import long_after
from tests.rules.random_games import BOARDS_BY_RULESET, HABITS, RandomGame, random_position, seat_counts
from tests.rules.test_properties import EVERY_TRAIN_RULESET


def random_play(rules: str, chance: int) -> RandomGame:
    rng = Random(chance)
    board = rng.choice(BOARDS_BY_RULESET[rules])
    seats = rng.choice(seat_counts(board))
    position = {"position": random_position(rng, board, seats)} if chance % 4 == 0 else {}
    options = {"strict": chance % 3 == 0}
    return RandomGame(rng, board, seats, rng.choice([*HABITS]), 0.02, 0.01, options, position)


def positions(rules: str, games: int, most: int) -> Iterator[tuple[GameState, ViewerKnowledge]]:
    """States of random games, each with what one viewer knows from the entries that it was sent."""
    for chance in range(games):
        play = random_play(rules, chance)
        viewer = play.rng.choice([None, *range(play.seats)])
        known, read = ViewerKnowledge(viewer), 0
        for number in play.steps():
            for entry in play.log[read:]:
                for event in unpack_entry(entry).events:
                    known.apply(event)
            read = len(play.log)
            if play.state.result or number > most:
                break
            yield play.state, known


def shuffle_with(rng: Random) -> Any:
    return lambda row: rng.sample(row, len(row))


def all_tickets(state: GameState) -> list[str | None]:
    in_hands = [ticket for seat in state.seats for ticket in (*seat.own.tickets, *seat.own.offer)]
    return in_hands + [ticket for row in state.own.ticket_decks.values() for ticket in row]


@pytest.mark.parametrize("games", long_after(1, (2, 4)))
@EVERY_TRAIN_RULESET
def test_what_is_known_stays_and_no_count_changes(rules: str, games: int) -> None:
    differ = 0
    for state, known in positions(rules, games, most=120):
        other = determinize(state, known, shuffle_with(Random(differ)))
        for seat, (before, after) in enumerate(zip(state.seats, other.seats, strict=True)):
            assert (after.own.cards, len(after.own.tickets), len(after.own.offer)) == (
                before.own.cards, len(before.own.tickets), len(before.own.offer),
            )  # fmt: skip
            assert all(before.own.hand[card] >= count for card, count in known.hand(seat).items())
            assert all(after.own.hand[card] >= count for card, count in known.hand(seat).items())
            if seat == known.viewer:
                assert after.own.hand == before.own.hand
                assert (after.own.tickets, after.own.offer, after.own.requested_mix) == (
                    before.own.tickets,
                    before.own.offer,
                    before.own.requested_mix,
                )
        for deck, row in other.own.ticket_decks.items():
            rows_now = zip(known.decks[deck], state.own.ticket_decks[deck], row, strict=True)
            assert all(seen is None or seen == real == other_ticket for seen, real, other_ticket in rows_now)
        assert len(other.own.deck) == len(state.own.deck)
        assert not known.located_tickets.intersection(hidden_tickets(other, known))
        assert_whole(other)
        differ += (other.own.deck, all_tickets(other)) != (state.own.deck, all_tickets(state))
    assert differ > 40 * games


def hidden_tickets(state: GameState, known: ViewerKnowledge) -> list[str | None]:
    """Tickets that the viewer neither sees nor knows by their place."""
    in_hands = [
        t for s, p in enumerate(state.seats) if s != known.viewer for t in (*p.own.tickets, *p.own.offer)
    ]
    rows = state.own.ticket_decks.items()
    return in_hands + [
        t for deck, row in rows for t, k in zip(row, known.decks[deck], strict=True) if k is None
    ]


def assert_whole(state: GameState) -> None:
    """No card and no ticket is in the state more often than in the game."""
    tickets = all_tickets(state)
    assert len(set(tickets)) == len(tickets)
    for card, count in state.rule_options.cards.items():
        in_hands = sum(seat.own.hand[card] for seat in state.seats)
        assert (
            in_hands + state.own.deck.count(card) + state.own.discards[card] + state.own.market.count(card)
            <= count
        )


@EVERY_TRAIN_RULESET
def test_the_viewers_own_hand_is_known_whole(rules: str) -> None:
    for state, known in positions(rules, games=2, most=150):
        if known.viewer is not None:
            hand = Counter({card: n for card, n in state.seats[known.viewer].own.hand.items() if n})
            assert hand == +known.hand(known.viewer)


def test_what_the_shuffle_is_given_follows_from_what_the_viewer_knows() -> None:
    """Two states that look the same are dealt afresh in the same way, so the new deal reveals nothing of either."""
    for rules in ("usa", "europe", "marklin", "trains"):
        for number, (state, known) in enumerate(positions(rules, games=1, most=60)):
            twin = determinize(state, known, shuffle_with(Random(number)))
            shuffled_rows: list[list[Sequence[Any]]] = [[], []]
            for each, rows in zip((state, twin), shuffled_rows, strict=True):

                def shuffle(row: Sequence[Any], rows: list[Sequence[Any]] = rows) -> Sequence[Any]:
                    rows.append(list(row))
                    return sorted(row, key=str)

                determinize(each, known, shuffle)
            assert shuffled_rows[0] == shuffled_rows[1]


def test_a_spectator_knows_what_was_taken_face_up_until_it_is_paid() -> None:
    known_once: Counter[Seat] = Counter()
    for _, known in positions("usa", games=3, most=100):
        known_once.update(seat for seat, hand in known.hands.items() if hand)
    assert len(known_once) > 1


@pytest.mark.parametrize(
    ("viewer", "known_again"), [(0, {"blue": 3, "red": 1}), (1, {"blue": 2}), (None, {"blue": 2})]
)
def test_UNDO_1_what_was_paid_and_taken_back_is_known(
    viewer: Seat | None, known_again: dict[str, int]
) -> None:
    # given
    known = ViewerKnowledge(viewer)
    known.apply(HandDealt(0, ("blue", "red", "blue", "blue")))
    # when
    known.apply(RouteClaimed(0, "a-b", {"blue": 2}, 2))
    known.apply(MoveUndone(0))
    # then
    assert known.hand(0) == known_again


@pytest.mark.parametrize("most", [3, 20], ids=["as many as the rules have", "more than the rules have"])
def test_P5_no_fork_reveals_of_which_cards_an_unfair_position_has_too_many(most: int) -> None:
    """Otherwise a player who forks again and again could count them."""
    forked = []
    for color in ("red", "blue"):
        play = positioned_game(hands=[{"green": 2}, {color: most}], deck=["white"] * 2 * most)
        known = collect_knowledge(0, (event for entry in play for event in entry.events))
        state = GameState()
        for entry in play:
            fold_events(state, entry.at, entry.events)
        other = determinize(state, known, shuffle_with(Random(5)))
        forked.append((other.seats[1].own.hand, other.own.deck))
        assert (other.seats[1].own.cards, len(other.own.deck)) == (most, 2 * most)
    assert forked[0] == forked[1]


def positioned_game(**position: Any) -> list[Entry]:
    """The entries of a game of two seats that starts from this position."""
    create = {"type": "create_game", "seats": [{}, {}], "position": {"turn": 0, **position}}
    state, entries = GameState(), []
    for number, command in enumerate((read_command(create), TakeSeat("Ada"), TakeSeat("Bob"), StartGame())):
        envelope = CommandEnvelope(f"c{number}", "game", None, command)
        entries.append(
            Entry(
                state.at_ms, envelope.id, None, command, decide_envelope(state, envelope, number, "0f" * 32)
            )
        )
    return entries
