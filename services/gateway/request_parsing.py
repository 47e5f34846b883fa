"""What comes over the web, before anything is made of it: bytes, JSON, tokens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable
from math import isinf
from typing import Any, Final

from pydantic_core import to_json

from schemas.contract import Malformed
from services.gateway.problem_details import Problem

BODY_MOST: Final = 16_384  # bytes of a request or of a message
CREATION_MOST: Final = 131_072  # of a request that lays a table, whose board may be written in place


async def read_body(chunks: AsyncIterable[bytes], most: int = BODY_MOST) -> dict[str, Any]:
    """A body as a JSON object, read no further than is allowed. Raises Malformed."""
    body = b""
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            raise Malformed("body", f"has more than {most} bytes", "SIZE-1")
    return read_object(body, most)


def read_object(text: bytes | str, most: int = BODY_MOST) -> dict[str, Any]:
    """A JSON object from text. Raises Malformed."""
    if len(text) > most:
        raise Malformed("body", f"has more than {most} bytes", "SIZE-1")
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        to_json(value)  # what can't be said again, to the referee or in an answer, isn't taken in
    except (ValueError, RecursionError) as error:
        raise Malformed("body", f"isn't JSON: {error}") from None
    if not isinstance(value, dict):
        raise Malformed("body", "must be a JSON object")
    return value


def read_bearer(authorization: str | None) -> str | None:
    """The token of an Authorization header, if there is one. Raises Problem."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Problem(401, "TOKEN-1", "the Authorization header is: Bearer <token>")
    return token.strip()


def _finite(digits: str) -> float:
    if isinf(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
