"""No hidden card can be computed from what is sent before the end (P6): an attacker tries every known way."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from statistics import NormalDist

import pytest

from schemas.field_types import Seat
from schemas.trains.commands import DrawBlind, KeepTickets, RequestCards
from tests.long_runs import long_after
from tests.rules.test_properties import EVERY_RULESET
from tests.secrecy.guesser import Observed, leaves_opened, matching_seeds, next_cards, observe, parts_opened
from tests.secrecy.matches import Match

LEVEL = 0.001


def view_of(rules: str, chance: int, viewer: Seat | None = None, envelopes: int = 12) -> Observed:
    """What a viewer was sent of the beginning of a game in which cards are drawn blind."""
    match = Match(rules, 5 * chance)  # neither a fork nor begun with a position
    match.habit, match.mischief, match.leaving = (DrawBlind, RequestCards, KeepTickets), 0, 0
    steps = [*match.opening, *islice(match.steps(), envelopes)]
    return observe(match, steps, viewer)


def with_secrets(view: Observed) -> Observed:
    """The same for an attacker who has the secrets."""
    state = view.match.state
    seat_secrets = {
        f"seat secret {seat}": bytes.fromhex(seat_state.seat_secret or "")
        for seat, seat_state in enumerate(state.seats)
    }
    secrets = {
        "the seed": bytes.fromhex(state.seed or ""),
        "the key": bytes.fromhex(state.shuffle_key),
        **seat_secrets,
    }
    return view._replace(values=secrets)


@pytest.mark.parametrize("games", long_after(1, (1, 2)))
@EVERY_RULESET
def test_P6_nothing_that_is_sent_opens_what_is_hidden(rules: str, games: int) -> None:
    for chance in range(games):
        for viewer in (None, 1):
            view = view_of(rules, chance, viewer)
            if view.match.state.result:
                continue  # every seat missed a deadline: the seed is revealed by then
            assert len(view.values) > 30
            assert not matching_seeds(view)
            assert not leaves_opened(view)
            assert not parts_opened(view)


@pytest.mark.parametrize("rules", ["usa", "europe", "marklin"])
def test_the_secrets_themselves_open_what_is_hidden(rules: str) -> None:
    """So the attempts of the test above are the right ones."""
    view = with_secrets(view_of(rules, 0))
    assert matching_seeds(view) == ["the seed"]
    assert len(leaves_opened(view)) > 20
    assert parts_opened(view)


@pytest.mark.parametrize("beginnings", long_after(1, (120, 240)))
def test_P6_the_next_card_is_guessed_no_more_often_than_by_chance(beginnings: int) -> None:
    """Every value that was sent, used as the key and as the seed, over the beginnings of many games."""
    hits, games, expected, variance = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for chance in range(beginnings):
        view = view_of("usa", chance, envelopes=0)
        deck = view.match.state.own.deck
        if view.match.state.epoch != 2:
            continue  # its deck was shuffled again at once: a small deck, and a flush
        for way, card in next_cards(view):
            share = deck.count(card) / len(deck)
            games[way] += 1
            hits[way] += card == deck[-1]
            expected[way] += share
            variance[way] += share * (1 - share)
    frequent = [way for way, count in games.items() if count > beginnings / 2]
    z = -NormalDist().inv_cdf(LEVEL / len(frequent))
    assert len(frequent) > 50
    assert not [way for way in frequent if hits[way] > expected[way] + z * variance[way] ** 0.5 + 1]


def test_the_key_or_the_seed_gives_every_next_card() -> None:
    for chance in range(12):
        view = with_secrets(view_of("usa", chance, envelopes=0))
        if view.match.state.epoch == 2:
            guesses = dict(next_cards(view))
            assert guesses["key: the key"] == guesses["seed: the seed"] == view.match.state.own.deck[-1]
