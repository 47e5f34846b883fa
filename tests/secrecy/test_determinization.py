"""What a viewer can't place is dealt afresh; what it can place stays where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from schemas.codec import unpack_entry
from schemas.commands import CommandEnvelope, StartGame, TakeSeat, read_command
from schemas.entries import Entry
from schemas.field_types import Seat
from services.referee.rules import GameState, decide_envelope, fold_events
from services.referee.rules.determinization import ViewerKnowledge, collect_knowledge, determinize
from tests.rules.random_games import BOARDS_BY_RULESET, HABITS, RandomGame, random_position, seat_counts
from tests.rules.test_properties import EVERY_RULESET


def random_play(rules: str, chance: int) -> RandomGame:
    rng = Random(chance)
    board = rng.choice(BOARDS_BY_RULESET[rules])
    seats = rng.choice(seat_counts(board))
    laid = {"position": random_position(rng, board, seats)} if chance % 4 == 0 else {}
    options = {"strict": chance % 3 == 0}
    return RandomGame(rng, board, seats, rng.choice([*HABITS]), 0.02, 0.01, options, laid)


def positions(rules: str, games: int, most: int) -> Iterator[tuple[GameState, ViewerKnowledge]]:
    """Tables of random games, and what one viewer knows there, as of what it was sent."""
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


def with_dice(rng: Random) -> Any:
    return lambda row: rng.sample(row, len(row))


def all_tickets(table: GameState) -> list[str | None]:
    held = [ticket for place in table.seats for ticket in (*place.tickets, *place.offer)]
    return held + [ticket for row in table.ticket_decks.values() for ticket in row]


@EVERY_RULESET
def test_what_is_known_stays_and_no_count_changes(rules: str) -> None:
    differ = 0
    for table, known in positions(rules, games=8, most=120):
        other = determinize(table, known, with_dice(Random(differ)))
        for seat, (place, dealt) in enumerate(zip(table.seats, other.seats, strict=True)):
            assert (dealt.cards, len(dealt.tickets), len(dealt.offer)) == (
                place.cards, len(place.tickets), len(place.offer),
            )  # fmt: skip
            assert all(place.hand[card] >= count for card, count in known.hand(seat).items())
            assert all(dealt.hand[card] >= count for card, count in known.hand(seat).items())
            if seat == known.viewer:
                assert dealt.hand == place.hand
                assert (dealt.tickets, dealt.offer, dealt.requested_mix) == (
                    place.tickets,
                    place.offer,
                    place.requested_mix,
                )
        for deck, row in other.ticket_decks.items():
            was = zip(known.decks[deck], table.ticket_decks[deck], row, strict=True)
            assert all(told is None or told == before == now for told, before, now in was)
        assert len(other.deck) == len(table.deck)
        assert not known.located_tickets.intersection(hidden_tickets(other, known))
        assert_whole(other)
        differ += (other.deck, all_tickets(other)) != (table.deck, all_tickets(table))
    assert differ > 300


def hidden_tickets(table: GameState, known: ViewerKnowledge) -> list[str | None]:
    """Those that lie where the viewer can't see them, and doesn't know them either."""
    held = [t for s, p in enumerate(table.seats) if s != known.viewer for t in (*p.tickets, *p.offer)]
    rows = table.ticket_decks.items()
    return held + [t for deck, row in rows for t, k in zip(row, known.decks[deck], strict=True) if k is None]


def assert_whole(table: GameState) -> None:
    """No card and no ticket is there more often than in the game."""
    tickets = all_tickets(table)
    assert len(set(tickets)) == len(tickets)
    for card, count in table.rule_options.cards.items():
        held = sum(place.hand[card] for place in table.seats)
        assert held + table.deck.count(card) + table.discards[card] + table.market.count(card) <= count


@EVERY_RULESET
def test_the_viewers_own_hand_is_known_whole(rules: str) -> None:
    for table, known in positions(rules, games=4, most=150):
        if known.viewer is not None:
            hand = Counter({card: n for card, n in table.seats[known.viewer].hand.items() if n})
            assert hand == +known.hand(known.viewer)


def test_what_chance_is_given_follows_from_what_the_viewer_knows() -> None:
    """Two tables that look alike are dealt afresh in the same way, so the deal shows nothing of either."""
    for rules in ("usa", "europe", "marklin", "trains"):
        for number, (table, known) in enumerate(positions(rules, games=3, most=60)):
            twin = determinize(table, known, with_dice(Random(number)))
            given: list[list[Sequence[Any]]] = [[], []]
            for each, rows in zip((table, twin), given, strict=True):

                def shuffle(row: Sequence[Any], rows: list[Sequence[Any]] = rows) -> Sequence[Any]:
                    rows.append(list(row))
                    return sorted(row, key=str)

                determinize(each, known, shuffle)
            assert given[0] == given[1]


def test_a_spectator_knows_what_was_taken_face_up_until_it_is_paid() -> None:
    known_once: Counter[Seat] = Counter()
    for _, known in positions("usa", games=3, most=100):
        known_once.update(seat for seat, hand in known.hands.items() if hand)
    assert len(known_once) > 1


@pytest.mark.parametrize("most", [3, 20], ids=["as many as the rules have", "more than the rules have"])
def test_P5_of_which_cards_an_unfair_position_has_too_many_no_fork_tells(most: int) -> None:
    """Who asks again and again could count them."""
    told = []
    for color in ("red", "blue"):
        play = laid(hands=[{"green": 2}, {color: most}], deck=["white"] * 2 * most)
        known = collect_knowledge(0, (event for entry in play for event in entry.events))
        table = GameState()
        for entry in play:
            fold_events(table, entry.at, entry.events)
        other = determinize(table, known, with_dice(Random(5)))
        told.append((other.seats[1].hand, other.deck))
        assert (other.seats[1].cards, len(other.deck)) == (most, 2 * most)
    assert told[0] == told[1]


def laid(**position: Any) -> list[Entry]:
    """A game of two that starts from this position."""
    create = {"type": "create_game", "seats": [{}, {}], "position": {"turn": 0, **position}}
    table, entries = GameState(), []
    for number, command in enumerate((read_command(create), TakeSeat("Ada"), TakeSeat("Bob"), StartGame())):
        envelope = CommandEnvelope(f"c{number}", "game", None, command)
        entries.append(
            Entry(
                table.at_ms, envelope.id, None, command, decide_envelope(table, envelope, number, "0f" * 32)
            )
        )
    return entries
