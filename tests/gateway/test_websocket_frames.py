"""A client's frames are told apart wherever the network cut them."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from services.gateway.web.websocket_frames import FrameSplitter, encode_text_frame

TEXT, PIECE, LAST_PIECE, BINARY, PING = 0x81, 0x01, 0x80, 0x82, 0x89
MASK = b"\x11\x22\x33\x44"
MAX_SIZE = 70_000


def frame(first: int, payload: bytes) -> bytes:
    """One frame from a client."""
    head = encode_text_frame(payload)[: -len(payload) or None]
    masked = bytes(byte ^ MASK[place % 4] for place, byte in enumerate(payload))
    return bytes((first, head[1] | 0x80)) + head[2:] + MASK + masked


PLAIN = [b"", b"{}", b"x" * 125, b"y" * 126, b"z" * 300, b"a" * 65_536, b"w" * MAX_SIZE]
FOR_THE_PARSER = [
    frame(PING, b"are you there"),
    encode_text_frame(b"without a mask"),
    frame(PIECE, b"a first piece"),
    frame(LAST_PIECE, b"its last piece"),
    frame(BINARY, b"\x00\xff" * 200),
    frame(TEXT, b"q" * (MAX_SIZE + 1)),
    b"\x81\xff" + b"\xff" * 8 + b"mask",  # a size that nobody sends
]


@pytest.mark.parametrize("seed", range(8))
def test_RATE_1_frames_are_split_alike_wherever_they_were_cut(seed: int) -> None:
    random = Random(seed)
    kinds: list[tuple[bytes, bytes | None]] = [(frame(TEXT, text), text) for text in PLAIN]
    kinds += [(each, None) for each in FOR_THE_PARSER[:-1]]  # of the last nothing ends
    sent = random.choices(kinds, k=12)
    data = b"".join(each for each, _ in sent)
    cuts = sorted(random.choices(range(len(data)), k=random.choice((0, 3, 40))))
    splitter = FrameSplitter(MAX_SIZE)

    received = [
        piece for begin, end in pairwise((0, *cuts, len(data))) for piece in splitter.split(data[begin:end])
    ]

    assert b"".join(each for each, _ in received) == data
    assert [text for _, text in received if text is not None] == [
        text for _, text in sent if text is not None
    ]
    assert all(each == frame(TEXT, text) for each, text in received if text is not None)


@pytest.mark.parametrize("text", PLAIN, ids=len)
def test_RATE_1_a_frame_that_comes_alone_is_split_as_among_others(text: bytes) -> None:
    sent = frame(TEXT, text)
    splitter = FrameSplitter(MAX_SIZE)
    assert [*splitter.split(sent)] == [(sent, text)]
    assert [*splitter.split(sent + sent)] == [(sent, text)] * 2
    assert [*splitter.split(sent[:7]), *splitter.split(sent[7:])] == [(sent, text)]
    assert [*splitter.split(sent[:-1])] == []
    assert [*splitter.split(sent[-1:])] == [(sent, text)]


@pytest.mark.parametrize("given", FOR_THE_PARSER, ids=range(len(FOR_THE_PARSER)))
def test_what_is_no_whole_plain_text_is_the_parsers_at_once(given: bytes) -> None:
    splitter = FrameSplitter(MAX_SIZE)
    begun, rest = given[:14], given[14:]
    assert [*splitter.split(begun)] == [(begun, None)]
    assert b"".join(each for piece in (rest, b"!") for each, _ in splitter.split(piece)).startswith(rest)
