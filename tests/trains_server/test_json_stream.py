"""A stream of JSON values from somebody who isn't trusted: every value within the bounds, nothing past them."""

from __future__ import annotations

import json
from random import Random

import pytest

from services.trains_server.peer_connection import MAX_DEPTH, BadJsonError, JsonStream

BLANKS = " \t\r\n" * 1_000
VALUES: list[object] = [
    'a"]\\',
    ["x", {"b": [1, -2.5, "}"]}],
    {"k": "\\", "é": None},
    "void",
    [],
    {},
    "",
    [[True]],
]


def taken(stream: JsonStream, max_bytes: int = 1_000) -> list[object]:
    """All values that are there now."""
    values = []
    while (value := stream.take(max_bytes)) is not None:
        values.append(value.json)
    return values


@pytest.mark.parametrize("chunk", [1, 2, 7, 100_000])
@pytest.mark.parametrize("between", ["", " ", BLANKS], ids=["nothing", "a blank", "thousands of blanks"])
def test_values_come_out_as_they_went_in_however_they_are_cut(chunk: int, between: str) -> None:
    data = between.join(json.dumps(value) for value in VALUES).encode()
    stream, values = JsonStream(), list[object]()
    for start in range(0, len(data), chunk):
        stream.feed(data[start : start + chunk])
        values += taken(stream)
    assert values == VALUES


def any_value(rng: Random, levels: int) -> object:
    """A random value of at most so many levels."""
    text = "".join(rng.choice('ab"\\[]{}, \n\té☃𝄞') for _ in range(rng.randrange(8)))
    match rng.randrange(6) if levels else rng.randrange(4):
        case 0:
            return text
        case 1:
            return rng.choice([None, True, -1.5, 10**20])
        case 2 | 3:
            return [] if levels else rng.randrange(-9, 9)
        case 4:
            return [any_value(rng, levels - 1) for _ in range(rng.randrange(4))]
    return {f"{text}{place}": any_value(rng, levels - 1) for place in range(rng.randrange(4))}


@pytest.mark.parametrize("ascii", [True, False])
def test_any_values_come_out_as_they_went_in(ascii: bool) -> None:
    rng = Random(7)
    for _ in range(60):
        values: list[object] = [[any_value(rng, 3)] for _ in range(rng.randrange(4))]
        data = " ".join(json.dumps(value, ensure_ascii=ascii) for value in values).encode()
        stream, out, chunk = JsonStream(), list[object](), rng.randrange(1, 9)
        for start in range(0, len(data), chunk):
            stream.feed(data[start : start + chunk])
            out += taken(stream, 100_000)
        assert out == values


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"12", "begins no string"),
        (b"void", "begins no string"),
        (b"]", "begins no string"),
        (b"\xef\xbb\xbf[]", "begins no string"),
        (b"[" * (MAX_DEPTH + 1), "levels"),
        (b'{"a":' * (MAX_DEPTH + 1), "levels"),
        (b'"' + b"a" * 2_000, "more than 1000 bytes"),
        (b"[" + b"1," * 1_000, "more than 1000 bytes"),
        (b"[1e]", "isn't JSON"),
        (b"[{]}", "isn't JSON"),
        (b'["\xff"]', "isn't JSON"),
        (b'["a\nb"]', "isn't JSON"),
        (b"[NaN]", "isn't JSON"),
        (b"[-Infinity]", "isn't JSON"),
        (b'{"a": 1, "a": 2}', "a key stands twice"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_value_within_the_bounds_is_refused(data: bytes, why: str) -> None:
    stream = JsonStream()
    stream.feed(b"  " + data)
    with pytest.raises(BadJsonError, match=why):
        stream.take(1_000)


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    stream = JsonStream()
    stream.feed(b"[" + b"9" * 10_000 + b"]")
    with pytest.raises(BadJsonError, match="isn't JSON"):
        stream.take(20_000)


def test_a_value_that_is_cut_is_not_there_yet() -> None:
    stream = JsonStream()
    for data in (b'["a\\', b'"', b"b", b'",{"c":'):
        stream.feed(data)
        assert stream.take(100) is None
    stream.feed(b"1}] ")
    assert taken(stream) == [['a"b', {"c": 1}]]


def test_blanks_are_not_kept() -> None:
    stream = JsonStream()
    for _ in range(100):
        stream.feed(b" " * 100_000)
        assert stream.take(100) is None
        assert not stream.buffered_bytes
    stream.feed(b'"a"' + b" " * 100_000)
    assert taken(stream) == ["a"]
    assert not stream.buffered_bytes
