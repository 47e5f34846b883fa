"""Reads what clients send, before any contract: JSON objects and Authorization headers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isinf
from typing import Final

from pydantic_core import to_json
from starlette.requests import HTTPConnection

from schemas.errors import InvalidInputError
from services.gateway.errors import RequestError, TokenError
from services.runtime.connection_limits import network_of

MAX_BODY_BYTES: Final = 16_384  # bytes of a request or of a WebSocket message
MAX_CREATION_BYTES: Final = 131_072  # of a request that creates a game: its board may be written in place
JSON_MEDIA_TYPE: Final = "application/json"
PLAIN_DEPTH: Final = 64  # of a nesting that can surely be written
UNWRITABLE: Final = "holds what JSON can't be written of: half of a surrogate pair, or too deep a nesting"

TOKEN_PREFIX: Final = "token."  # noqa: S105 - no secret, but how a subprotocol begins that is one

JsonBody = dict[str, object]


class WrongMediaTypeError(RequestError):
    """A request's body isn't said to be JSON."""


def client_address(connection: HTTPConnection) -> str:
    """The address of a request or a socket, as limits count it; empty if the server doesn't know it."""
    return network_of(connection.client.host) if connection.client else ""


def parse_message(text: bytes | str) -> JsonBody:
    """A WebSocket message as a JSON object. Raises InvalidInputError."""
    if len(text) > MAX_BODY_BYTES:
        raise InvalidInputError("body", f"has more than {MAX_BODY_BYTES} bytes", "SIZE-1")
    return parse_json_object(text)


def parse_json_object(text: bytes | str) -> JsonBody:
    """A JSON object in UTF-8. Raises InvalidInputError, also for a key that stands twice, and for what can't be
    written as JSON again: NaN, an infinite number, half of a surrogate pair, a nesting that is too deep."""
    try:
        # left to itself `json` also guesses UTF-16 and UTF-32, and makes a decoder for each text
        text = text if isinstance(text, str) else text.decode()
        value = _DECODER.decode(text)
    except UnicodeDecodeError:
        raise InvalidInputError("body", "isn't UTF-8") from None
    except RecursionError:
        raise InvalidInputError("body", "isn't JSON that can be read: it is nested too deep") from None
    except ValueError as error:
        raise InvalidInputError("body", f"isn't JSON: {error}") from None
    if "\\" in text or text.count("[") + text.count("{") > PLAIN_DEPTH:  # else it can surely be written again
        try:
            to_json(value)
        except ValueError:
            raise InvalidInputError("body", UNWRITABLE) from None
    if not isinstance(value, dict):
        raise InvalidInputError("body", "must be a JSON object")
    return value


def parse_bearer_token(authorization: str | None) -> str | None:
    """The token of an Authorization header; None without the header. Raises TokenError for another scheme."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise TokenError("the Authorization header is: Bearer <token>")
    return token.strip()


def require_json_type(content_type: str | None, origin: str | None) -> None:
    """Raise WrongMediaTypeError unless a body says that it is JSON: a page of another site can send any other type
    without asking first. A program, which sends no Origin, may leave the type out."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if media_type != JSON_MEDIA_TYPE and (media_type or origin is not None):
        raise WrongMediaTypeError("SHAPE-1", f"the body's Content-Type must be {JSON_MEDIA_TYPE}")


def parse_offered_token(subprotocols: Sequence[str]) -> str | None:
    """The token among the subprotocols that a socket offers: a browser can't send headers. None without one."""
    return next(
        (name.removeprefix(TOKEN_PREFIX) for name in subprotocols if name.startswith(TOKEN_PREFIX)), None
    )


def _unique_keys(pairs: list[tuple[str, object]]) -> JsonBody:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    seen = set[str]()
    for key, _ in pairs:
        if key in seen:
            raise ValueError(f"the key {key[:40]!r} stands twice")
        seen.add(key)
    raise AssertionError("one of them stands twice")


def _parse_finite_float(digits: str) -> float:
    if isinf(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _reject_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


_DECODER: Final = json.JSONDecoder(
    parse_constant=_reject_constant, parse_float=_parse_finite_float, object_pairs_hook=_unique_keys
)
