"""A server that cheats with a rebuilt deck, or with a hand that is given back, is found by the audit and the one-file verifier (P6)."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.events import Event
from schemas.stored.codec import build_view_entry, unpack_entry
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head
from schemas.trains.events import DeckRecreated, HandReturned
from services.archive import encode_game_file
from services.referee.games import GameState, fold_events
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.sealing import ChainState, SealedEntry, seal_entry
from services.referee.games.proof.view_verifier import ViewVerifier
from services.verification.deal_check import DealChecker
from tests.verification.audit.small_server import SIGNER
from tests.verification.proof.given import first_found

GOLDEN = Path(__file__).parents[2] / "golden"
GAMES: dict[type[Event], str] = {
    DeckRecreated: "europe-all-together",
    HandReturned: "trains-removed-before-choosing",
}
Alter = Callable[[Any], Event]


def entries_of(game: str) -> list[Entry]:
    return [
        unpack_entry(b64decode(line)) for line in json.loads((GOLDEN / f"{game}.json").read_text())["log"]
    ]


def altered(kind: type[Event], alter: Alter) -> tuple[list[Entry], int]:
    """A golden game's entries with the first event of this type altered, and the number of its entry."""
    entries = entries_of(GAMES[kind])
    number = next(n for n, e in enumerate(entries, 1) if any(isinstance(event, kind) for event in e.events))
    entry = entries[number - 1]
    events = tuple(alter(event) if isinstance(event, kind) else event for event in entry.events)
    return [*entries[: number - 1], replace(entry, events=events)], number


def sealed(game: str, entries: list[Entry]) -> list[SealedEntry]:
    state, chain_state, piles = GameState(), ChainState(0, initial_head(game), {}), PileTracker()
    rows: list[SealedEntry] = []
    for entry in entries:
        fold_events(state, entry.at, entry.events)
        rows.append(seal_entry(state, chain_state, piles, entry))
        chain_state = chain_state.after(rows[-1])
    return rows


def reverse(event: Any) -> Event:
    result: Event = replace(event, order=event.order[::-1])
    return result


def without_one(event: Any) -> Event:
    result: Event = replace(event, order=event.order[1:])
    return result


@pytest.mark.parametrize(
    ("alter", "why"),
    [
        (reverse, "doesn't follow from the game's key"),
        (without_one, "shuffles other cards"),
        (lambda event: replace(event, root="ab" * 32), "doesn't follow from the game's key"),
    ],
)
def test_P6_a_deck_that_is_not_all_the_cards_shuffled_by_the_key_is_found(alter: Alter, why: str) -> None:
    entries, number = altered(DeckRecreated, alter)
    rows = sealed(GAMES[DeckRecreated], entries)
    file = encode_game_file(
        GAMES[DeckRecreated], [row.entry for row in rows], [row.head for row in rows], SIGNER
    )
    found = first_found(file)
    assert found is not None
    assert found[0] == number
    assert why in found[1]


@pytest.mark.parametrize("alter", [reverse, without_one, lambda event: replace(event, root="ab" * 32)])
def test_P6_the_audit_of_the_deal_finds_it_too(alter: Alter) -> None:
    entries, _ = altered(DeckRecreated, alter)
    deal_checker = DealChecker()
    assert [deal_checker.apply(entry) for entry in entries[:-1]] == [""] * (len(entries) - 1)
    assert "deck" in deal_checker.apply(entries[-1])


def test_P6_a_hand_that_is_swapped_on_its_way_to_the_deck_is_found_when_it_is_drawn() -> None:
    """The seat that gave it back sees at once that it isn't its hand; the others when a card is drawn."""
    game = GAMES[HandReturned]
    entries = entries_of(game)
    rows = sealed(game, entries)
    number = next(
        n for n, e in enumerate(entries, 1) if any(isinstance(event, HandReturned) for event in e.events)
    )
    (seat,) = (event.seat for event in entries[number - 1].events if isinstance(event, HandReturned))
    swapped, _ = altered(HandReturned, lambda event: replace(event, cards=("white",) * 3 + (event.cards[3],)))
    fake = sealed(game, swapped)[number - 1]
    verifier = ViewVerifier(game, seat)
    for n, row in enumerate(rows[: number - 1], 1):
        verifier.verify(build_view_entry(n, row.public, dict(row.private_parts).get(seat), row.head))
    part = dict(rows[number - 1].private_parts)[seat]
    with pytest.raises(VerificationFailedError):
        verifier.verify(build_view_entry(number, fake.public, part, fake.head))
