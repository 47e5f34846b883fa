"""Frames of a WebSocket as bytes (RFC 6455, 5.2): whole text messages, as a server writes them."""

from __future__ import annotations

from typing import Final

TEXT_FRAME: Final = 0x81  # a whole message in one frame
SHORT_SIZE, MIDDLE_SIZE = 126, 65_536  # from these on a size takes two bytes more, or eight


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
