"""A server that cheats, and commits to, chains and signs the result: the one-file verifier finds what
contradicts the cards, the seed and the key (P6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from schemas.events import Event, HandDealt, SeatTaken, SeedRevealed, SeedSealed
from schemas.stored.entries import Entry
from schemas.trains.events import CardDrawn, MarketFilled, TicketsOffered
from services.archive import encode_game_file
from services.referee.games.fair_randomness import shuffle_with_key
from tests.verification.audit.small_server import SIGNER, Events, SmallServer
from tests.verification.proof.given import first_found

OTHER = {"red": "blue", "blue": "red"}


def other_color(card: Any) -> str:
    return OTHER.get(card, "red")


def first(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (other_color(row[0]), *row[1:])


def once(
    kind: type[Event], skip: int, alter: Callable[[Any], Event]
) -> Callable[[SmallServer, Entry], Events | None]:
    """Alter the event of a type, after skipping so many."""
    left = [skip]

    def cheat(server: SmallServer, entry: Entry) -> Events | None:
        if not any(isinstance(event, kind) for event in entry.events):
            return None
        left[0] -= 1
        if left[0] != -1:
            return None
        return tuple(alter(event) if isinstance(event, kind) else event for event in entry.events)

    return cheat


def found_in(server: SmallServer) -> tuple[int | None, str] | None:
    entries, heads = [each.entry for each in server.log], [each.head for each in server.log]
    return first_found(encode_game_file(server.game, entries, heads, SIGNER))


def test_an_honest_server_has_no_findings() -> None:
    assert found_in(SmallServer().play()) is None


@pytest.mark.parametrize(
    ("kind", "skip", "alter", "why"),
    [
        (CardDrawn, 4, lambda e: replace(e, card=other_color(e.card)), "from a pile on whose top"),
        (HandDealt, 0, lambda e: replace(e, cards=first(e.cards)), "from a pile on whose top"),
        (MarketFilled, 3, lambda e: replace(e, cards=first(e.cards)), "from a pile on whose top"),
        (TicketsOffered, 0, lambda e: replace(e, tickets=e.tickets[::-1]), "from a pile on whose top"),
        (SeedSealed, 0, lambda e: replace(e, commitment="ab" * 32), "wasn't committed to"),
        (SeedSealed, 0, lambda e: replace(e, given=True), "given"),
        (SeedRevealed, 0, lambda e: replace(e, seed="ab" * 32), "another seed"),
        (SeatTaken, 1, lambda e: replace(e, contribution="ab" * 32), "contribution of seat 1"),
        (SeatTaken, 2, lambda e: replace(e, contribution="00" * 32, by="nobody"), "contribution of seat 2"),
        (SeatTaken, 0, lambda e: replace(e, luck="ab" * 32), "secret or contribution of seat 0"),
    ],
)  # fmt: skip
def test_P6_an_altered_event_is_found_though_the_server_signed_it(
    kind: type[Event], skip: int, alter: Callable[[Any], Event], why: str
) -> None:
    altered: list[int] = []

    def recorded(server: SmallServer, entry: Entry) -> Events | None:
        events = cheat(server, entry)
        if events is not None:
            altered.append(len(server.log) + 1)
        return events

    cheat = once(kind, skip, alter)
    found = found_in(SmallServer(cheat=recorded).play())
    assert found is not None
    assert [found[0]] == altered
    assert why in found[1]


@pytest.mark.parametrize("epoch", [0, 1])
def test_P6_a_rigged_shuffle_is_found(epoch: int) -> None:
    server = SmallServer(
        shuffle=lambda state, row: (
            tuple(sorted(row)) if state.epoch == epoch else shuffle_with_key(state, row)
        )
    )
    found = found_in(server.play())
    assert found is not None
    assert "doesn't follow from the game's key" in found[1]
