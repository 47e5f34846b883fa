"""Frames of a WebSocket as bytes (RFC 6455, 5.2): whole text messages, as a server writes and a client sends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

TEXT_FRAME: Final = 0x81  # a whole message in one frame
SHORT_SIZE, MIDDLE_SIZE = 126, 65_536  # from these on a size takes two bytes more, or eight
IS_MASKED: Final = 0x80  # the bit of a frame's second byte
MASKED_HEADER_SIZE: Final = 6  # at least, of what a client sends


def encode_text_frame(payload: bytes) -> bytes:
    """A server's text frame: unmasked, so the same bytes for all who are sent this message."""
    size = len(payload)
    if size < SHORT_SIZE:
        return bytes((TEXT_FRAME, size)) + payload
    if size < MIDDLE_SIZE:
        return bytes((TEXT_FRAME, 126)) + size.to_bytes(2, "big") + payload
    return bytes((TEXT_FRAME, 127)) + size.to_bytes(8, "big") + payload


def frame_payload(frame: bytes) -> bytes:
    """What `encode_text_frame` made the frame of."""
    return frame[{126: 4, 127: 10}.get(frame[1], 2) :]


class FrameSplitter:
    """Splits what a client sends into its frames, wherever the network cut them: text of a whole message is taken out of
    its frame, and everything else is for a parser, to which it is handed as it comes."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size  # of a message that is taken out
        self._part = b""  # a frame whose end isn't there yet
        self._owed = 0  # bytes still to come of a frame whose beginning the parser has

    def split(self, data: bytes) -> Iterable[tuple[bytes, bytes | None]]:
        """The frames that end with these bytes, in order: the bytes of each, and its text, or None for the parser."""
        if not (self._part or self._owed) and (text := self._whole_text(data)) is not None:
            return ((data, text),)
        return self._split(data)

    def _whole_text(self, data: bytes) -> bytes | None:
        """The text, where these bytes are one frame of a command's size: most of what a client sends is that."""
        if len(data) < MASKED_HEADER_SIZE or data[0] != TEXT_FRAME:
            return None
        begin, size = MASKED_HEADER_SIZE, data[1] - IS_MASKED
        if size == SHORT_SIZE:
            begin, size = MASKED_HEADER_SIZE + 2, data[2] << 8 | data[3]
        if not 0 <= size <= self._max_size or len(data) != begin + size or data[1] > IS_MASKED + SHORT_SIZE:
            return None
        return _unmask(data[begin:], data[begin - 4 : begin])

    def _split(self, data: bytes) -> Iterator[tuple[bytes, bytes | None]]:
        if self._owed:
            begun, data = data[: self._owed], data[self._owed :]
            self._owed -= len(begun)
            yield begun, None
        data, self._part = self._part + data, b""
        place, size = 0, len(data)
        while place < size:
            begin, end = _read_header(data, place)
            is_text = data[place] == TEXT_FRAME and begin - place >= MASKED_HEADER_SIZE
            if not begin or (is_text and size < end <= begin + self._max_size):
                self._part = data[place:]
                return
            if is_text and end <= begin + self._max_size:
                yield data[place:end], _unmask(data[begin:end], data[begin - 4 : begin])
            else:
                self._owed = max(0, end - size)
                yield data[place:end], None
            place = end


def _read_header(data: bytes, place: int) -> tuple[int, int]:
    """Where the payload of the frame begins and ends; 0 and 0 where its header isn't all there."""
    header_end = place + 2
    if len(data) < header_end:
        return 0, 0
    is_masked, size = data[place + 1] >> 7, data[place + 1] & 127
    if size >= SHORT_SIZE:
        size_begin, header_end = header_end, header_end + (2 if size == SHORT_SIZE else 8)
        size = int.from_bytes(data[size_begin:header_end], "big")
    begin = header_end + 4 * is_masked
    return (begin, begin + size) if len(data) >= begin else (0, 0)


def _unmask(payload: bytes, mask: bytes) -> bytes:
    size = len(payload)
    repeated = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "little") ^ int.from_bytes(repeated, "little")).to_bytes(size, "little")
