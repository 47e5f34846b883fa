"""What comes from outside is of its contract's form or is Malformed, naming the field."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.commands import CommandEnvelope, CreateGame, Pass, SeatPlan, read_command
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import MAX_JSON_DEPTH
from schemas.stored.codec import (
    ENTRY_FORMAT,
    ENVELOPE_FORMAT,
    MAX_ENVELOPE_BYTES,
    Proofs,  # fmt: skip
    build_view_entry,
    pack_entry,
    pack_envelope,
    pack_private_part,
    pack_public,
    read_private_part,
    read_public_rows,
    unpack_entry,
    unpack_envelope,
    unpack_for_fold,
    unpack_foreign_entry,
)
from schemas.stored.entries import Entry
from schemas.stored.rows import VisibilitySplit, event_to_row, pack
from services.referee.games.views import split_by_visibility
from tests.long_runs import long_after
from tests.process_faults.seeds import SOAK
from tests.schemas import examples
from tests.schemas.wrong_commands import DEAL, WRONG_COMMANDS, nested


def envelope(
    command: object, *, form: object = ENVELOPE_FORMAT, seat: object = 0, game: object = "game-1"
) -> bytes:
    return pack((form, "id-1", game, seat, command))


def refused(data: bytes) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        unpack_envelope(data)
    assert len(str(caught.value)) < 400
    return caught.value


@pytest.mark.parametrize(("command", "field"), [pytest.param(c, f, id=n) for n, c, f in WRONG_COMMANDS])
def test_a_malformed_command_names_its_field(command: object, field: str) -> None:
    error = refused(envelope(command))
    assert (error.field, error.rule) == (field, "SHAPE-1")


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ('{"name": "a\\ud800", "type": "take_seat"}', "name"),
        ('{"type": "create_game", "seats": [{}], "options": {"a": "\\ud800"}}', "options"),
        ('{"type": "create_game", "seats": [{}], "options": {"a": {"\\udfff": 1}}}', "options"),
        ('{"type": "create_game", "seats": [{}], "options": {"a": 1%s}}' % ("0" * 300), "options"),
        ('{"type": "draw_market", "slot": 1%s}' % ("0" * 300), "slot"),
        ('{"type": "draw_market", "slot": NaN}', "slot"),
    ],
)
def test_what_only_json_can_spell_is_malformed_too(value: str, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_command(json.loads(value))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (envelope({"type": "pass"}, seat=8), "seat"),
        (envelope({"type": "pass"}, seat=-1), "seat"),
        (envelope({"type": "pass"}, seat="0"), "seat"),
        (envelope({"type": "pass"}, seat=True), "seat"),
        (envelope({"type": "pass"}, game="G"), "game"),
        (envelope({"type": "pass"}, game=b"game-1"), "game"),
        (pack((ENVELOPE_FORMAT, "an id", "game-1", 0, {"type": "pass"})), "id"),
        (envelope({"type": "pass"}, form=ENVELOPE_FORMAT + 1), "envelope"),
        (envelope({"type": "pass"}, form=True), "envelope"),
        (envelope({"type": "pass"}, form=1.0), "envelope"),
        (envelope({"type": "pass"}, form=math.nan), "envelope"),
        (envelope({3: "pass"}), "envelope"),
        (envelope({None: "pass"}), "envelope"),
        (pack((ENVELOPE_FORMAT, "id-1", "game-1", 0)), "envelope"),
        (pack((ENVELOPE_FORMAT, "id-1", "game-1", 0, {"type": "pass"}, 1)), "envelope"),
        (pack("abcde"), "envelope"),
        (pack(3), "envelope"),
        (b"", "envelope"),
        (b"\xc1", "envelope"),
        (b"\xdd\xff\xff\xff\xff", "envelope"),
        (b"\x81\x80\x01", "envelope"),
        (b"\xa1\xff", "envelope"),
        (b"\xd7\xff" + b"\xff" * 8, "envelope"),
        (envelope({"type": "pass"}) + b"\x00", "envelope"),
        (envelope({"type": "pass"})[:-1], "envelope"),
    ],
)
def test_a_malformed_envelope_names_its_field(data: bytes, field: str) -> None:
    assert refused(data).field == field


@pytest.mark.parametrize("depth", [500, 1000, 1020, 1100, 8000])
@pytest.mark.parametrize(
    "before",
    [b"", b"\x95", b"\x95\x01\xa1a\xa6game-1\x00", b"\x95\x01\xa1a\xa6game-1\x00\x82\xa4type\xa4pass\xa1a"],
    ids=["alone", "as the format", "as the command", "as a field"],
)
def test_no_depth_breaks_the_reading(depth: int, before: bytes) -> None:
    rest = b"\x00" * 4 if before == b"\x95" else b""
    refused(before + b"\x91" * depth + b"\x01" + rest)


def test_SIZE_1_an_envelope_at_the_limit_is_read_and_one_past_it_is_not() -> None:
    def sized(extra: int) -> bytes:
        options = {"deck": "x" * (MAX_ENVELOPE_BYTES - 200 + extra)}
        return pack_envelope(
            CommandEnvelope("id-1", "game-1", None, CreateGame((SeatPlan(),), options=options))
        )

    fits = sized(MAX_ENVELOPE_BYTES - len(sized(0)))
    assert len(fits) == MAX_ENVELOPE_BYTES
    assert unpack_envelope(fits)
    with pytest.raises(InvalidInputError, match=r"65537 bytes, 65536 are allowed") as error:
        sized(MAX_ENVELOPE_BYTES + 1 - len(sized(0)))
    assert error.value.rule == "SIZE-1"
    assert refused(fits + b"\x00").rule == "SIZE-1"
    assert refused(b"\x00" * 10_000_000).rule == "SIZE-1"


def test_every_envelope_that_is_read_can_be_packed_again() -> None:
    deepest = {**DEAL, "options": {"cars": nested(MAX_JSON_DEPTH - 1), "n": [2**53, -1.5, None, True]}}
    read = unpack_envelope(envelope(deepest))
    assert unpack_envelope(pack_envelope(read)) == read
    assert pack_entry(Entry(0, read.id, None, read.command, ()), VisibilitySplit((), {}, {}))[0]


# -- nothing but Malformed and Corrupt comes out ---------------------------------------


PLAINEST = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=8)
KEYS = st.integers(-2, 40) | st.text(max_size=6) | st.binary(max_size=3) | st.none()
VALUES: st.SearchStrategy[Any] = st.recursive(
    PLAINEST | st.binary(max_size=6),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
ROWS = st.builds(lambda code, rest: [code, *rest], st.integers(0, 24), st.lists(VALUES, max_size=5)) | VALUES
SIDE = st.dictionaries(st.integers(-1, 3) | VALUES.filter(lambda v: v.__hash__ is not None), ROWS, max_size=2)
SHAPED = st.one_of(
    st.tuples(st.just(1), VALUES, VALUES, VALUES, st.dictionaries(st.text(max_size=8), VALUES, max_size=3)),
    st.tuples(
        st.just(1), VALUES, VALUES, VALUES, ROWS, st.lists(ROWS, max_size=3) | VALUES,
        st.dictionaries(st.integers(0, 3), SIDE | VALUES, max_size=2) | VALUES, SIDE | VALUES,
    ),
    st.tuples(st.integers(1, 2), VALUES, st.lists(ROWS, max_size=3) | VALUES),
    st.tuples(st.integers(1, 2), VALUES, st.lists(ROWS, max_size=3) | VALUES, st.binary() | VALUES, VALUES),
    st.tuples(st.integers(1, 2), VALUES, VALUES, SIDE | VALUES),
    st.tuples(st.integers(1, 2), VALUES, VALUES, SIDE | VALUES, st.binary() | VALUES),
    VALUES,
)  # fmt: skip
GENUINE = [
    *(pack_envelope(CommandEnvelope("id-1", "game-1", 0, command)) for command in examples.COMMANDS),
    pack_entry(Entry(5, "id-1", 1, Pass(), examples.EVENTS), split_by_visibility(examples.EVENTS))[0],
    pack_public(5, split_by_visibility(examples.EVENTS), Proofs(b"")),
    pack_private_part(3, "id-1", split_by_visibility(examples.EVENTS).private[1]),
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Bytes that were genuine until some of them were changed, cut or repeated."""
    data = bytearray(draw(st.sampled_from(GENUINE)))
    for _ in range(draw(st.integers(1, 4))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(1, len(data)))]) if draw(st.booleans()) else bytes(data)


ANYTHING = st.binary(max_size=200) | SHAPED.map(lambda value: bytes(pack(value))) | damaged()
PUBLIC, PART = GENUINE[-2:]


@pytest.mark.parametrize("examples", long_after(1, (100, 800 if SOAK else 300)))
def test_garbage_is_malformed_or_corrupt_and_nothing_else(examples: int) -> None:
    settings(max_examples=examples, deadline=None)(given(data=ANYTHING)(no_other_error))()


def test_a_part_whose_number_is_infinite_is_corrupt() -> None:
    no_other_error(pack((1, math.inf, None, {})))


def no_other_error(data: bytes) -> None:
    readings: tuple[Callable[[], object], ...] = (
        lambda: unpack_envelope(data),
        lambda: unpack_entry(data),
        lambda: unpack_foreign_entry(data),
        lambda: unpack_for_fold(data),
        lambda: build_view_entry(1, data, None),
        lambda: build_view_entry(1, PUBLIC, data),
        lambda: build_view_entry(1, data, PART),
        lambda: read_public_rows(data),
        lambda: read_private_part(data),
    )
    for place, read in enumerate(readings):
        try:
            read()
        except InvalidInputError:
            assert place == 0, "a damaged log is Corrupt, not Malformed"
        except CorruptDataError:
            assert place > 0, "a damaged envelope is invalid input, not corrupt data"


@given(value=VALUES | st.dictionaries(st.text(max_size=8), VALUES))
def test_any_value_is_a_command_or_malformed(value: Any) -> None:
    try:
        command = read_command(value)
    except InvalidInputError:
        return
    assert unpack_envelope(pack_envelope(CommandEnvelope("id-1", "game-1", 0, command))).command == command


@pytest.mark.parametrize(
    "rows",
    [(), ((),), ((99,),), ((16,),), ((16, 0, 1),), ((1, "game-1"),), (3,), ("abc",), ({1: 2},), ((None, 1),)],
    ids=str,
)
def test_rows_that_no_referee_writes_are_corrupt(rows: Any) -> None:
    whole = pack((ENTRY_FORMAT, 0, "id-1", 0, (9,), rows, {}, {}))
    if rows:
        with pytest.raises(CorruptDataError):
            unpack_entry(whole)
        with pytest.raises(CorruptDataError):
            unpack_for_fold(whole)
        with pytest.raises(CorruptDataError):
            build_view_entry(1, pack((ENTRY_FORMAT, 0, rows)), None)
    lost = pack(
        (ENTRY_FORMAT, 0, "id-1", 0, (9,), rows, {1: {len(rows): event_to_row(examples.HIDING[4])}}, {})
    )
    with pytest.raises(CorruptDataError):  # a private row for a place that isn't there
        unpack_entry(lost)


@pytest.mark.parametrize("depth", [500, 1000, 1020])
def test_no_depth_breaks_the_reading_of_a_log(depth: int) -> None:
    deep = b"\x91" * depth + b"\x01"
    public = b"\x93\x01\x00\x91" + deep
    with pytest.raises(CorruptDataError):
        build_view_entry(1, public, None)
    with pytest.raises(CorruptDataError):
        unpack_entry(b"\x98\x01\x00\xa1a\x00\x91\x09\x91" + deep + b"\x80\x80")
    with pytest.raises(CorruptDataError):
        unpack_entry(b"\x98\x01\x00\xa1a\x00\x91" + deep + b"\x90\x80\x80")
