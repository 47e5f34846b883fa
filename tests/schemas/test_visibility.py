"""What is hidden never leaves in public bytes, and nothing is lost on the way to its owner."""

from __future__ import annotations

import json

import pytest

from schemas.commands import Pass
from schemas.events import CommandRefused, Event, HandDealt, write_event
from schemas.published_contracts import EVENTS
from schemas.stored.codec import (
    Proofs,
    build_view_entry,
    pack_entry,
    pack_private_part,
    pack_public,
    unpack_entry,
    unpack_for_fold,
)
from schemas.stored.entries import Entry, write_view_entry
from schemas.trains.events import CardDrawn
from services.referee.games.views import REDACTORS, redact_for, split_by_visibility
from tests.schemas import examples

SEATS = (None, 0, 1, 2)
OWNER = 1  # the seat of every private event in the examples


def names(events: tuple[Event, ...]) -> list[str]:
    return [f"{event.type}-{n}" for n, event in enumerate(events)]


def public_bytes(event: Event) -> bytes:
    return bytes(pack_public(0, split_by_visibility((event,)), Proofs(b"")))


def test_the_examples_cover_everything_that_hides() -> None:
    assert {type(event) for event in examples.HIDING} == {cls for cls in EVENTS if REDACTORS[cls] is not None}
    assert {type(event) for event in examples.EVENTS} == set(EVENTS)
    for event in examples.HIDING:
        assert any(secret in json.dumps(write_event(event)) for secret in examples.UNSEEN)


@pytest.mark.parametrize("event", examples.HIDING, ids=names(examples.HIDING))
def test_hidden_things_are_not_in_the_public_bytes(event: Event) -> None:
    seen = (
        public_bytes(event)
        + json.dumps(write_view_entry(build_view_entry(1, public_bytes(event), None))).encode()
    )
    for secret in examples.UNSEEN:
        assert secret.encode() not in seen


@pytest.mark.parametrize("event", examples.HIDING, ids=names(examples.HIDING))
def test_hidden_things_reach_their_owner_and_nobody_else(event: Event) -> None:
    shown = redact_for(None, event)
    owner = getattr(event, "seat", None)
    for viewer in SEATS:
        assert redact_for(viewer, event) == (event if viewer is not None and viewer == owner else shown)

    split = split_by_visibility((event,))
    assert list(split.private) == ([] if owner is None else [OWNER])
    assert bool(split.secret) == (owner is None)
    part = pack_private_part(0, None, split.private.get(OWNER, {}))
    assert build_view_entry(1, public_bytes(event), part).events == ((shown,) if owner is None else (event,))


@pytest.mark.parametrize("event", examples.OPEN, ids=names(examples.OPEN))
def test_open_events_are_the_same_for_all(event: Event) -> None:
    assert all(redact_for(viewer, event) is event for viewer in SEATS)
    split = split_by_visibility((event,))
    assert (split.private, split.secret) == ({}, {})
    assert build_view_entry(1, public_bytes(event), None).events == (event,)


def test_hidden_rows_have_one_length_whatever_they_hold() -> None:
    for event in examples.HIDING:
        for name in ("order", "cards", "tickets", "kept"):
            if row := getattr(event, name, None):
                assert getattr(redact_for(None, event), name) == (None,) * len(row)


def test_public_bytes_of_a_draw_don_t_depend_on_the_card() -> None:
    assert len({public_bytes(CardDrawn(1, card)) for card in ("red", "locomotive4", "blue")}) == 1
    assert len({public_bytes(HandDealt(1, (card,) * 4)) for card in ("red", "locomotive4", "blue")}) == 1


def test_somebody_s_refusal_leaves_an_empty_entry_for_the_others() -> None:
    refusal = CommandRefused(OWNER, "TURN-1", examples.WHY)
    assert build_view_entry(4, public_bytes(refusal), None).events == ()
    assert public_bytes(refusal) == public_bytes(CommandRefused(0, "ROUTE-3", "another reason"))


def test_an_entry_of_all_events_comes_back_whole() -> None:
    split = split_by_visibility(examples.EVENTS)
    entry = Entry(250, "id-1", 2, Pass(), examples.EVENTS)
    packed = pack_entry(entry, split)[0]
    assert unpack_entry(packed) == entry
    assert unpack_for_fold(packed) == (250, "id-1", 2, (OWNER,), list(examples.EVENTS))

    seen = pack_public(250, split, Proofs(b""))
    assert not [secret for secret in examples.UNSEEN if secret.encode() in seen]
    for viewer in SEATS:
        part = pack_private_part(0, "id-1", split.private[viewer]) if viewer in split.private else None
        expected = [shown for event in examples.EVENTS if (shown := redact_for(viewer, event)) is not None]
        assert list(build_view_entry(9, seen, part).events) == expected
