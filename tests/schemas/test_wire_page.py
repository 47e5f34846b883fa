"""docs/reference/wire.md is true: its example, its layouts and its limits are recomputed here."""

from __future__ import annotations

import re
from pathlib import Path

import msgpack

from schemas.commands import CommandEnvelope
from schemas.events import TurnStarted
from schemas.field_types import MAX_JSON_DEPTH
from schemas.json_schema import LAYOUTS
from schemas.stored.codec import (
    ENTRY_FORMAT,
    ENVELOPE_FORMAT,
    MAX_ENVELOPE_BYTES,
    Proofs,
    build_view_entry,
    pack_entry,
    pack_envelope,
    pack_private_part,
    pack_public,
)
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import derive_salt, derive_salt_key, private_part_commitment, secret_commitment
from schemas.trains.commands import DrawBlind
from schemas.trains.events import CardDrawn
from services.referee.games.fair_randomness import card_salt
from services.referee.games.shuffle import derive_seat_secret, seed_from_text
from services.referee.games.views import split_by_visibility

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "wire.md").read_text(encoding="utf-8")
HEX = {name: bytes.fromhex(digits) for name, digits in re.findall(r"```hex (\w+)\n([^`]*)```", PAGE)}
EVENTS = (CardDrawn(1, "red"), TurnStarted(2))
FACES = split_by_visibility(EVENTS)
SEED = seed_from_text("ledgerline")
NUMBER, PLACE = 5, (0, 17)


def test_the_example_is_what_the_codec_writes() -> None:
    salt_key, seat_secret = derive_salt_key(SEED, "demo"), bytes.fromhex(derive_seat_secret(SEED, 1, "demo"))
    log, secret = pack_entry(Entry(250, "m-7", 1, DrawBlind(), EVENTS), FACES)
    part = pack_private_part(3, "m-7", FACES.private[1], card_salt(salt_key, *PLACE))
    commitments = secret_commitment(derive_salt(salt_key, NUMBER, "demo"), secret)
    commitments += private_part_commitment(derive_salt(seat_secret, NUMBER, "demo"), part)
    assert {
        "envelope": pack_envelope(CommandEnvelope("m-7", "demo", 1, DrawBlind())),
        "log": log,
        "public": pack_public(250, FACES, Proofs(commitments)),
        "part": part,
    } == HEX


def test_the_example_joins_to_what_seat_1_may_see() -> None:
    assert build_view_entry(5, HEX["public"], HEX["part"]).events == EVENTS
    assert build_view_entry(5, HEX["public"], None).events == (CardDrawn(1, None), TurnStarted(2))


def test_the_page_and_the_wire_file_have_the_layouts_of_packed_arrays() -> None:
    values = {name: msgpack.unpackb(data, strict_map_key=False) for name, data in HEX.items()}
    left_off = {"public": 2}  # nothing was laid down, and no card turned up for all
    assert {name: len(value) + left_off.get(name, 0) for name, value in values.items()} == {
        name: len(layout) for name, layout in LAYOUTS.items()
    }
    log = dict(zip(LAYOUTS["log"], values["log"], strict=True))
    part = dict(zip(LAYOUTS["part"], values["part"], strict=True))
    public = dict(zip(LAYOUTS["public"], values["public"], strict=False))
    assert (log["format"], log["at"], log["id"], log["seat"], log["secret"]) == (
        ENTRY_FORMAT,
        250,
        "m-7",
        1,
        {},
    )
    assert (public["at"], public["public"]) == (log["at"], log["public"])
    assert (part["before"], part["answers"], part["rows"]) == (3, "m-7", log["private"][1])
    assert (len(public["commitments"]), len(part["openings"])) == (2 * 16, 16)
    for layout in LAYOUTS.values():
        assert f"`[{', '.join(layout)}]`" in PAGE


def test_the_page_has_the_limits_and_the_formats() -> None:
    assert f"at most {MAX_ENVELOPE_BYTES} bytes" in PAGE
    assert f"at most {MAX_JSON_DEPTH} deep" in PAGE
    assert f"the format number, {ENTRY_FORMAT}." in PAGE
    assert ENTRY_FORMAT == ENVELOPE_FORMAT
