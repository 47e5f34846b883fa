"""What comes over the web, before anything is made of it: bytes, JSON, tokens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable
from math import isinf
from typing import Any, Final

from pydantic_core import to_json

from schemas.errors import InvalidInputError
from services.gateway.problem_details import HttpProblemError

MAX_BODY_BYTES: Final = 16_384  # bytes of a request or of a message
MAX_CREATION_BYTES: Final = 131_072  # of a request that lays a table, whose board may be written in place


async def read_body(chunks: AsyncIterable[bytes], max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """A body as a JSON object, read no further than is allowed. Raises Malformed."""
    body = b""
    async for chunk in chunks:
        body += chunk
        if len(body) > max_bytes:
            raise InvalidInputError("body", f"has more than {max_bytes} bytes", "SIZE-1")
    return parse_json_object(body, max_bytes)


def parse_json_object(text: bytes | str, max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """A JSON object from text. Raises Malformed."""
    if len(text) > max_bytes:
        raise InvalidInputError("body", f"has more than {max_bytes} bytes", "SIZE-1")
    try:
        value = json.loads(text, parse_constant=_reject_constant, parse_float=_parse_finite_float)
        to_json(value)  # what can't be said again, to the referee or in an answer, isn't taken in
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("body", f"isn't JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInputError("body", "must be a JSON object")
    return value


def parse_bearer_token(authorization: str | None) -> str | None:
    """The token of an Authorization header, if there is one. Raises Problem."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise HttpProblemError(401, "TOKEN-1", "the Authorization header is: Bearer <token>")
    return token.strip()


def _parse_finite_float(digits: str) -> float:
    if isinf(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _reject_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
