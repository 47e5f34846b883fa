"""No outcome can be had from what is shown before the end: somebody tries, by every way that we could think of."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from statistics import NormalDist

import pytest

from schemas.commands import DrawBlind, KeepTickets, RequestCards
from schemas.field_types import Seat
from tests.rules.test_properties import EVERY_RULESET
from tests.secrecy.guesser import Told, leaves_opened, next_cards, parts_opened, seeds_found, told
from tests.secrecy.matches import Match

LEVEL = 0.001


def view_of(rules: str, chance: int, viewer: Seat | None = None, envelopes: int = 12) -> Told:
    """What is shown of the beginning of a game, in which cards are drawn unseen."""
    match = Match(rules, 5 * chance)  # every fifth but one begins with a position
    match.habit, match.mischief, match.leaving = (DrawBlind, RequestCards, KeepTickets), 0, 0
    steps = [*match.opening, *islice(match.steps(), envelopes)]
    return told(match, steps, viewer)


def with_secrets(view: Told) -> Told:
    """The same for somebody who was given the secrets."""
    table = view.match.table
    lucks = {f"luck {seat}": bytes.fromhex(place.seat_secret or "") for seat, place in enumerate(table.seats)}
    secrets = {
        "the seed": bytes.fromhex(table.seed or ""),
        "the key": bytes.fromhex(table.shuffle_key),
        **lucks,
    }
    return view._replace(values=secrets)


@EVERY_RULESET
def test_nothing_that_is_told_opens_what_is_hidden(rules: str) -> None:
    for chance in range(2):
        for viewer in (None, 1):
            view = view_of(rules, chance, viewer)
            if view.match.table.result:
                continue  # everybody lapsed: by then the seed was published
            assert len(view.values) > 30
            assert not seeds_found(view)
            assert not leaves_opened(view)
            assert not parts_opened(view)


@pytest.mark.parametrize("rules", ["usa", "europe", "marklin"])
def test_who_has_the_secrets_opens_all_of_it(rules: str) -> None:
    """So the ways that are tried are the right ones."""
    view = with_secrets(view_of(rules, 0))
    assert seeds_found(view) == ["the seed"]
    assert len(leaves_opened(view)) > 20
    assert parts_opened(view)


def test_the_next_card_is_guessed_no_oftener_than_by_chance() -> None:
    """Whatever is shown, put in the place of the key or the seed, over the beginnings of many games."""
    hits, games, expected, variance = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for chance in range(200):
        view = view_of("usa", chance, envelopes=0)
        deck = view.match.table.deck
        if view.match.table.epoch != 2:
            continue  # its deck was shuffled again at once: few cards, and a flush
        for way, card in next_cards(view):
            share = deck.count(card) / len(deck)
            games[way] += 1
            hits[way] += card == deck[-1]
            expected[way] += share  # type: ignore[assignment]
            variance[way] += share * (1 - share)  # type: ignore[assignment]
    often = [way for way, count in games.items() if count > 100]
    z = -NormalDist().inv_cdf(LEVEL / len(often))
    assert len(often) > 50
    assert not [way for way in often if hits[way] > expected[way] + z * variance[way] ** 0.5 + 1]


def test_who_has_the_key_guesses_every_card() -> None:
    for chance in range(12):
        view = with_secrets(view_of("usa", chance, envelopes=0))
        if view.match.table.epoch == 2:
            guesses = dict(next_cards(view))
            assert guesses["key: the key"] == guesses["seed: the seed"] == view.match.table.deck[-1]
