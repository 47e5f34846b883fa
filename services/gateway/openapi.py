"""What the OpenAPI page shows: examples of every request, and the form of every error."""

from __future__ import annotations

from typing import Any, Final

from schemas.commands import PLAYER_COMMANDS, SCHEMAS

DESCRIPTION: Final = """
A game is one append-only log. You send **commands**; the referee answers each with one
numbered **entry**, and you read the entries as your seat may see them: your **view**.

1. `POST /games` lays a table and gives you the host's token.
2. `POST /games/{game}/join` seats a person and gives the seat's token. Keep it: it shows
   this seat's view, and nothing else does.
3. `POST /games/{game}/start` shuffles and deals, once every seat is taken.
4. `POST /games/{game}/commands` plays. A refused command answers 409 with the rule's id.
5. `GET /games/{game}/view?after=N` reads on from entry N; without a token it is the
   public view.
6. `POST /games/{game}/play-off`, with your token of a game that ended in `play_off_called`,
   gives your seat and token in the game that follows. It starts by itself.
7. `POST /games/{game}/forks` with `{"at": N}` lays a new game where this one stood after entry N.
   While it goes on, what your token's seat (or without one, the public) couldn't see there is
   dealt afresh, and your seat in the new game is yours: `seat_token`.

Or do 4 and 5 on one **WebSocket**, `/games/{game}/play?after=N`: entries come down as they
happen; send up `{"id": "c1", "command": {"type": "draw_blind"}}`. Give the token in the
Authorization header, or from a browser as the subprotocols `ledgerline, token.<token>`.

Every command has an id (`Idempotency-Key`, or `id` on the socket). Sending one again never
does it twice: you get the one verdict again.

Coming back with the entries up to number n, ask from `after=n-1` and compare the first entry's
`head` with your last: a fail-over may have put another there. If so, or if it is gone, begin from 0.

Nobody has to believe the house. The `head` of an entry is made of all that was shown until then, so
two players who compare one saw the same game; with `?proofs=true` a client computes it, and checks
each card against what was committed to. Send 32 random bytes of your own in hex as `contribution`
when you join: then nobody else chose the deal. docs/proof.md tells how.

Say how sure you want to be with `level` (and `wait_ms`): `decided` is what you get unasked,
`durable` is on the engine's disk, `replicated:2` is on two replicas. Past the time the answer
is `"verdict": "unknown"` with the level that was reached: send the same id again. A level that
the engine can't give is refused (LEVEL-1) before anything is sent.
"""
LEVEL_DESCRIPTION: Final = (
    "how sure the answer is: accepted (on its way), decided (in the log), durable (and on disk), "
    "replicated:k (and on k replicas, 1 to 9)"
)
WAIT_MS_DESCRIPTION: Final = "how long to wait for that, before the answer is unknown"

_PROBLEM_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "rule": {"type": "string"},
        "field": {"type": "string"},
        "id": {"type": "string", "description": "the command's"},
        "number": {"type": "integer", "description": "of the entry, where the refusal is one"},
        "level": {"type": "string", "description": "how sure it is; told: there is no entry"},
        "retry_after": {"type": "integer", "description": "seconds"},
    },
}


def _problem_response(description: str, status: int, rule: str, title: str, detail: str) -> dict[str, Any]:
    example = {"type": f"/rules/{rule}", "title": title, "status": status, "detail": detail, "rule": rule}
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": _PROBLEM_SCHEMA, "example": example}},
    }


PROBLEM_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    401: _problem_response("No token, or not ours", 401, "TOKEN-1", "The token isn't valid for this game and seat.",
                  "send the seat's token: Authorization: Bearer <token>"),
    404: _problem_response("No such game", 404, "GAME-1", "There is no such game.", "there is no game 3f9a1c0b77e2"),
    409: _problem_response("A rule says no", 409, "ROUTE-2",
                  "As many cards as the route has spaces, of one colour that suits it, locomotives wild.",
                  "2 red doesn't pay: it takes 3 of blue, locomotives wild"),
    422: _problem_response("Not of the right form", 422, "SHAPE-1", "The message isn't of its contract's form.",
                  "cards.red: Input should be greater than or equal to 1"),
    429: _problem_response("Too fast (RATE-1), or the house is busy (BUSY-1): nothing was sent, try again", 429, "RATE-1",
                  "Too many commands in too short a time.", "more than 50 commands a second"),
    501: _problem_response("The engine can't give this level", 501, "LEVEL-1",
                  "The engine can't make a command as sure as was asked; nothing was sent.",
                  "the engine keeps no AOF: set appendonly yes"),
}  # fmt: skip

UNKNOWN_VERDICT_RESPONSE: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "Not that sure, or not within the time: send the same id again",
        "content": {
            "application/json": {
                "example": {
                    "id": "c1",
                    "verdict": "unknown",
                    "level": "decided",
                    "number": 7,
                    "detail": "send it again with the same id: it gives the one verdict",
                }
            }
        },
    }
}


def _request_body(schema: dict[str, Any], **examples: dict[str, Any]) -> dict[str, Any]:
    content = {"schema": schema, "examples": {name: {"value": value} for name, value in examples.items()}}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def _command_schema() -> dict[str, Any]:
    """Any command of a player: its type, and that type's fields."""
    schemas = []
    for cls in PLAYER_COMMANDS:
        schema = SCHEMAS[cls.type].json_schema()
        schema["properties"] = {"type": {"const": cls.type}, **schema.get("properties", {})}
        schema["required"] = ["type", *schema.get("required", [])]
        schemas.append(schema)
    return {"oneOf": schemas}


CREATE_BODY: Final = _request_body(
    {
        "type": "object",
        "required": ["seats"],
        "properties": {
            "ruleset": {"type": "string", "default": "usa"},
            "board": {"type": "string"},
            "seats": {"type": "array", "items": {"type": "object"}, "minItems": 1, "maxItems": 8},
            "seed": {"type": "string"},
            "options": {"type": "object"},
        },
    },
    two_people={"ruleset": "usa", "seats": [{"kind": "human"}, {"kind": "human"}]},
    against_bots={
        "ruleset": "usa",
        "seats": [
            {"kind": "human"},
            {"kind": "bot", "policy": "greedy"},
            {"kind": "bot", "policy": "random"},
        ],
        "seed": "friday",
        "options": {"clock_ms": 1_200_000},
    },
)
JOIN_BODY: Final = _request_body(
    {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "seat": {"type": "integer"},
            "age": {"type": "integer"},
            "contribution": {"type": "string", "description": "32 random bytes of your own, in hex"},
        },
        "additionalProperties": False,
    },
    anywhere={"name": "Ada", "contribution": "5f" * 32},
    at_a_seat={"name": "Ada", "seat": 1},
)
FORK_BODY: Final = _request_body(
    {
        "type": "object",
        "required": ["at"],
        "properties": {"at": {"type": "integer", "minimum": 1, "description": "the number of an entry"}},
        "additionalProperties": False,
    },
    after_entry_40={"at": 40},
)
COMMAND_BODY: Final = _request_body(
    _command_schema(),
    draw_blind={"type": "draw_blind"},
    draw_market={"type": "draw_market", "slot": 2},
    claim_route={
        "type": "claim_route",
        "route": "montreal-new-york-a",
        "cards": {"blue": 2, "locomotive": 1},
    },
    keep_tickets={"type": "keep_tickets", "keep": [0, 2]},
)
