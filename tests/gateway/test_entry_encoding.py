"""An entry that is written straight from its rows is the very message that its events would be written as."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import to_json

from schemas.contract import PUBLIC
from schemas.errors import CorruptDataError
from schemas.events import Event, TurnStarted, write_event
from schemas.stored.codec import Proofs, pack_private_part, pack_public
from schemas.stored.entries import write_proof, write_view_entry
from schemas.stored.rows import VisibilitySplit, event_to_row, pack, row_to_json, unpack
from schemas.trains.events import CardDrawn
from services.gateway.following.entry_encoding import NotifiedEntry, encode_text_frame, frame_payload
from services.ledger.notifications import EntryNotification
from tests.schemas import examples

HEAD = bytes(range(32))
PUBLIC_ROWS = tuple(event_to_row(event) for event in (TurnStarted(1), CardDrawn(1, None)))
NOTIFICATION = EntryNotification(
    game="game",
    sequence=7,
    public=pack_public(5, VisibilitySplit(PUBLIC_ROWS, {}, {}), Proofs(b"")),
    private_parts={1: pack_private_part(6, "c7", {1: event_to_row(CardDrawn(1, "red"))})},
    head=HEAD,
)


@pytest.mark.parametrize("event", examples.EVENTS, ids=lambda event: event.type)
def test_P5_an_event_is_written_alike_from_its_row(event: Event) -> None:
    written = row_to_json(unpack(pack(event_to_row(event))))
    assert written is None or to_json(written) == to_json(write_event(event))


def test_P5_only_events_that_need_more_than_a_change_of_form_are_made_first() -> None:
    made = {event.type for event in examples.EVENTS if row_to_json(event_to_row(event)) is None}
    assert {"game_created", "game_ended", "seat_taken"} <= made
    assert not made & {
        event.type for event in examples.EVENTS if event.visibility == PUBLIC and len(event_to_row(event)) < 3
    }
    wrong: Any = ((), (0,), (999, 1), None, (PUBLIC_ROWS[0][0],))
    assert [row_to_json(row) for row in wrong] == [None] * 5


@pytest.mark.parametrize("proofs", [False, True])
@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_P5_a_notified_entry_is_sent_as_one_that_is_read(viewer: int | None, proofs: bool) -> None:
    entry = NOTIFICATION.entry_for(viewer)
    proof = {"proof": write_proof(entry.shown)} if proofs else {}

    [encoded] = NotifiedEntry(NOTIFICATION).encode(viewer, proofs) or ()

    assert encoded.text.encode() == to_json({"type": "entry", **write_view_entry(entry), **proof})
    assert (encoded.number, encoded.answers, encoded.head) == (7, entry.answers, HEAD)
    assert (encoded.answers == "c7") == (viewer == 1) == ("red" in encoded.text)


def test_P8_a_notified_entry_that_is_no_json_is_damage() -> None:
    damaged = NOTIFICATION._replace(
        public=pack_public(5, VisibilitySplit(((*PUBLIC_ROWS[0][:1], b"\xff"),), {}, {}), Proofs(b""))
    )
    with pytest.raises(CorruptDataError, match="entry 7"):
        NotifiedEntry(damaged).encode(None)


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
def test_a_frame_holds_its_message(size: int) -> None:
    payload = b"x" * size
    assert frame_payload(encode_text_frame(payload)) == payload
