"""docs/wire.md is true: its example, its layouts and its limits are recomputed here."""

from __future__ import annotations

import re
from pathlib import Path

import msgpack

from schemas.codec import (
    FORMAT,
    LETTER_FORMAT,
    LETTER_MOST,
    UNSEALED,
    Proofs,
    join_view,
    pack_letter,
    pack_part,
    pack_public,
    pack_sealed,
)
from schemas.commands import DrawBlind, Letter
from schemas.entries import Entry
from schemas.events import CardDrawn, TurnStarted
from schemas.events.upcasting import FORMER
from schemas.field_types import PLAIN_DEPTH
from schemas.hash_chain import part_commitment, salt_of, secret_commitment, vault_of
from schemas.json_schema import LAYOUTS
from services.referee.rules.fair_randomness import card_salt
from services.referee.rules.shuffle import luck_of, seed_of
from services.referee.rules.views import faces

PAGE = (Path(__file__).parents[2] / "docs" / "wire.md").read_text(encoding="utf-8")
HEX = {name: bytes.fromhex(digits) for name, digits in re.findall(r"```hex (\w+)\n([^`]*)```", PAGE)}
EVENTS = (CardDrawn(1, "red"), TurnStarted(2))
FACES = faces(EVENTS)
SEED = seed_of("ledgerline")
NUMBER, PLACE = 5, (0, 17)


def test_the_example_is_what_the_codec_writes() -> None:
    vault, luck = vault_of(SEED, "demo"), bytes.fromhex(luck_of(SEED, 1, "demo"))
    log, secret = pack_sealed(Entry(250, "m-7", 1, DrawBlind(), EVENTS), FACES)
    part = pack_part(3, "m-7", FACES.private[1], card_salt(vault, *PLACE))
    commitments = secret_commitment(salt_of(vault, NUMBER, "demo"), secret)
    commitments += part_commitment(salt_of(luck, NUMBER, "demo"), part)
    assert {
        "letter": pack_letter(Letter("m-7", "demo", 1, DrawBlind())),
        "log": log,
        "public": pack_public(250, FACES, Proofs(commitments)),
        "part": part,
    } == HEX


def test_the_example_joins_to_what_seat_1_may_see() -> None:
    assert join_view(5, HEX["public"], HEX["part"]).events == EVENTS
    assert join_view(5, HEX["public"], None).events == (CardDrawn(1, None), TurnStarted(2))


def test_the_page_and_the_wire_file_tell_the_layouts_of_packed_arrays() -> None:
    values = {name: msgpack.unpackb(data, strict_map_key=False) for name, data in HEX.items()}
    left_off = {"public": 2}  # nothing was laid down, and no card turned up for all
    assert {name: len(value) + left_off.get(name, 0) for name, value in values.items()} == {
        name: len(layout) for name, layout in LAYOUTS.items()
    }
    log = dict(zip(LAYOUTS["log"], values["log"], strict=True))
    part = dict(zip(LAYOUTS["part"], values["part"], strict=True))
    public = dict(zip(LAYOUTS["public"], values["public"], strict=False))
    assert (log["format"], log["at"], log["id"], log["seat"], log["secret"]) == (FORMAT, 250, "m-7", 1, {})
    assert (public["at"], public["public"]) == (log["at"], log["public"])
    assert (part["before"], part["answers"], part["rows"]) == (3, "m-7", log["private"][1])
    assert (len(public["commitments"]), len(part["openings"])) == (2 * 16, 16)
    for layout in LAYOUTS.values():
        assert f"`[{', '.join(layout)}]`" in PAGE


def test_the_page_tells_the_limits_and_the_formats() -> None:
    assert f"at most {LETTER_MOST} bytes" in PAGE
    assert f"at most {PLAIN_DEPTH} deep" in PAGE
    assert f"the format number: {LETTER_FORMAT} for a letter, {FORMAT} for the others" in PAGE
    assert f"have format {UNSEALED}" in PAGE


def test_the_page_tells_every_former_version() -> None:
    for code, former in FORMER.items():
        row = f"| `{former.type}` {former.version} (code {code}) | `{former.type}` {former.version + 1}"
        assert f"{row} (code {former.code_of_next}) |" in PAGE
