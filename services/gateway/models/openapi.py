"""The OpenAPI document: its description, requests and errors, models that FastAPI doesn't see, and an example of every
answer."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Final

from fastapi import FastAPI

from schemas.contract import Json
from schemas.published_contracts import ALL_RULES
from services.gateway.models.contract_schemas import resolve_references
from services.gateway.models.request_models import SCHEMA_PATH, component_schemas
from services.gateway.models.response_models import UnknownVerdict

OpenApiObject = dict[str, object]
StatusResponses = dict[int | str, OpenApiObject]
EXAMPLES_FILE: Final = "answer_examples.json"  # tests/gateway/answer_examples.py writes it
EXAMPLE_PATH: Final = "#/components/examples/{name}"

DESCRIPTION: Final = """
A game is one append-only log. You send **commands**; the referee answers each with one
numbered **entry**, and you read the entries as your seat may see them: your **view**.

1. `POST /v1/games` creates a game and gives you the host's token. A server may leave boards of your own and
   positions to its operator, whose key is then the Bearer token, or to nobody (403, OPERATOR-1).
   The game is unlisted unless you say `"visibility": "public"` (anybody finds it) or `"players"` (only who holds a token
   of it watches). `spectator_delay` shows the public view so many entries late. The answer has an invitation
   to each free seat; with `"by_invitation": true` a join must send one. docs/access.md explains.
2. `POST /v1/games/{game}/join` takes a seat and gives the seat's token. Keep it: it shows
   this seat's view, and nothing else does. It ends after 30 days, unless the server is set otherwise; the same
   join gives a new one. If somebody else may have it, `POST /v1/games/{game}/withdraw-token` makes all
   tokens of your seat void and gives a new one.
3. `POST /v1/games/{game}/start` shuffles and deals, once every seat is taken. Before that the host frees the seat of who isn't
   there (`POST /v1/games/{game}/seats/{seat}/free`), and lets a bot take a free one (`.../bot`).
4. `POST /v1/games/{game}/commands` plays. A refused command answers 409 with the rule's id.
5. `GET /v1/games/{game}/view?after=N` reads on from entry N; without a token it is the
   public view.
6. `POST /v1/games/{game}/play-off`, with your token of a game that ended in `play_off_called`,
   gives your seat and token in the game that follows. It starts by itself.
7. `POST /v1/games/{game}/forks` with `{"at": N}` creates a new game where this one stood after entry N.
   While this one goes on, what your token's seat (or without one, the public) couldn't see there is
   dealt again, and your seat in the new game is yours: `seat_token`.

To follow a game without asking again, `GET /v1/games/{game}/stream?after=N`: one JSON object a line (NDJSON), first
`{"type": "attached", ..}`, then each entry as it happens, `{"type": "alive", "number": N, "head": ".."}` every 15 s while
nothing does, and `{"type": "closed", "code": .., "reason": ".."}` at the end: `curl -N` shows it.

Instead of keeping a socket open, register a webhook: `PUT /v1/games/{game}/webhook` with `{"url": "https://.."}`.
It is sent a signed POST when your seat is to act or to choose, and when the game is over (docs/clients.md).

Or do 4 and 5 on one **WebSocket**, `/v1/games/{game}/play?after=N`: it sends entries as they
happen; send `{"id": "c1", "command": {"type": "draw_blind"}}`. Give the token in the
Authorization header, from a browser as the subprotocols `ledgerline, token.<token>`, or with `?authenticate=true` in your first
message, `{"token": ".."}`, within 5 s; never in the address. /asyncapi.json describes the messages. The socket's first one,
`{"type": "attached", "number": N, "head": ".."}`, is where the log is. With `?alive=true` a message `alive` comes every 5 s at
most: after 9 s of nothing the network has died without a word, so come back.

A client need not know the rules: with `?legal=true` and a seat's token, the view and the WebSocket add `legal` to the
latest entry where it asks the seat to act: the commands to choose from. Send one of them back as it is. One that shows a
table asks the socket for `?state=true`: then the latest entry has `state`, the fields of `/state` that have changed.

There is also the table as you see it (`GET /v1/games/{game}/state`), what your seat may do now with a sentence for each
(`/legal`), what a bot would do in its place and why (`/suggestions`), boards and rulesets. The pages at `/` need nothing else.

Every command has an id (`Idempotency-Key`, or `id` on the socket). Sending one again never
executes it twice: you get the same verdict again. The id of a creation, a join or a fork is a secret like
the token that it is answered with: choose it at random, and use it for nothing else. It is good for the
token until the game is over.

To reconnect with the entries up to number n, name the last one's head: `/v1/games/{game}/play?after=n&head=..`. A socket
that is closed with 4001 means: come back and go on. One with 4002 means: begin anew, from 0, because a
fail-over lost entries that you have. Over HTTP, read from `after=n-1` and compare the first entry's `head` with
your last; if it differs or is gone, read from 0.

You need not trust the server. The `head` of an entry is a hash over all that was shown until then, so
two players who compare one saw the same game; with `?proofs=true` a client computes it, and checks
each card against its commitment. Send 32 random bytes of your own in hex as `contribution`
when you join: then nobody else chose the deal. docs/proof.md explains how.

Ask for a level of acknowledgement with `level` (and `wait_ms`): `decided` is the default,
`durable` is on the engine's disk, `replicated:2` is on two replicas. When the time is over the answer
is `"verdict": "unknown"` with the level that was reached: send the same id again. A level that
the engine can't give is refused (LEVEL-1) before anything is sent.
"""
LEVEL_DESCRIPTION: Final = (
    "how durable the answer is: accepted (on its way), decided (in the log), durable (and on disk), "
    "replicated:k (and on k replicas, 1 to 9)"
)
WAIT_MS_DESCRIPTION: Final = "how long to wait for that, before the answer is unknown"


def _problem_response(status: int, rule: str, description: str, detail: str) -> OpenApiObject:
    example = {
        "type": f"/rules/{rule}",
        "title": ALL_RULES[rule],
        "status": status,
        "detail": detail,
        "rule": rule,
    }
    schema = {"$ref": SCHEMA_PATH.format(model="Problem")}
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": schema, "example": example}},
    }


# fmt: off
PROBLEM_RESPONSES: Final[StatusResponses] = {
    401: _problem_response(401, "TOKEN-1", "No token, or not ours", "send the seat's token: Authorization: Bearer <token>"),
    403: _problem_response(403, "TOKEN-1", "A token of another game or seat (TOKEN-1), or not for you on this server (OPERATOR-1)", "this token is for another game"),
    404: _problem_response(404, "GAME-1", "No such game", "there is no game 3f9a1c0b77e2"),
    409: _problem_response(409, "ROUTE-2", "A rule forbids it, or the id was sent with another command (ID-1)", "2 red doesn't pay: it takes 3 of blue, locomotives wild"),
    413: _problem_response(413, "SIZE-1", "Too large", "body: has more than 16384 bytes"),
    415: _problem_response(415, "SHAPE-1", "No JSON", "the body's Content-Type must be application/json"),
    422: _problem_response(422, "SHAPE-1", "Not of the right form", "red of cards: must be 1 or more"),
    429: _problem_response(429, "RATE-1", "Too fast (RATE-1), or the server is busy (BUSY-1): nothing was sent, try again",
                           "more than 50 commands a second"),
    501: _problem_response(501, "LEVEL-1", "The engine can't give this level", "the engine keeps no AOF: set appendonly yes"),
    503: _problem_response(503, "WAIT-1", "No answer in time, or the engine doesn't answer: ask again with the same id",
                           "game 3f9a1c0b77e2 isn't there yet; ask again"),
}
# fmt: on

UNKNOWN_VERDICT_EXAMPLE: Final[OpenApiObject] = {
    "id": "c1",
    "verdict": "unknown",
    "level": "decided",
    "number": 7,
    "detail": "send it again with the same id: it gives the one verdict",
}

UNKNOWN_VERDICT_RESPONSE: Final[StatusResponses] = {
    202: {
        "model": UnknownVerdict,
        "description": "Not that sure, or not within the time: send the same id again",
        "content": {"application/json": {"example": UNKNOWN_VERDICT_EXAMPLE}},
    }
}
STREAM_RESPONSE: Final[StatusResponses] = {
    200: {
        "description": "JSON objects, one a line: `attached`, then each `entry`, `alive` while none comes, and `closed` at the end",
        "content": {
            "application/x-ndjson": {
                "schema": {"type": "string"},
                "example": '{"type":"attached","number":6,"head":"5f2c.."}\n'
                '{"type":"entry","number":6,"at":5310,"answers":null,"events":[],"head":"5f2c.."}\n'
                '{"type":"alive","number":6,"head":"5f2c.."}\n{"type":"closed","code":1000,"reason":"the game is over"}\n',
            }
        },
    }
}


def _request_body(model: str, **examples: OpenApiObject) -> OpenApiObject:
    """The `openapi_extra` of a route that reads its body by hand, so that FastAPI knows no model of it."""
    schema = {"$ref": SCHEMA_PATH.format(model=model)}
    content = {"schema": schema, "examples": {name: {"value": value} for name, value in examples.items()}}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


TOKEN_IS_OPTIONAL: Final[OpenApiObject] = {"security": [{}]}  # put after the schemes that FastAPI declares

CREATE_BODY: Final = _request_body(
    "CreateGameRequest",
    two_people={"ruleset": "usa", "seats": [{"kind": "human"}, {"kind": "human"}]},
    against_bots={
        "ruleset": "usa",
        "seats": [
            {"kind": "human"},
            {"kind": "bot", "policy": "greedy"},
            {"kind": "bot", "policy": "random"},
        ],
        "options": {"clock_ms": 1_200_000},
    },
    for_invited_players_alone={
        "seats": [{"kind": "human"}, {"kind": "human"}],
        "visibility": "players",
        "by_invitation": True,
    },
    watched_late={
        "seats": [{"kind": "human"}, {"kind": "human"}],
        "visibility": "public",
        "spectator_delay": 10,
    },
    bots_dealt_as_named={
        "ruleset": "usa",
        "seats": [{"kind": "bot", "policy": "greedy"}, {"kind": "bot", "policy": "random"}],
        "seed": "friday",
    },
)
JOIN_BODY: Final = _request_body(
    "JoinRequest",
    anywhere={"name": "Ada", "contribution": "5f" * 32},
    at_a_seat={"name": "Ada", "seat": 1},
    invited={"name": "Ada", "invitation": "lli1.jg4k2v8Q.M2Y5YTFjMGI3N2UyLzEvMTc5MDAwMDAwMA.c2lnbmF0dXJl"},
)
SEAT_BOT_BODY: Final = _request_body("SeatBotRequest", that_plays_to_win={"policy": "greedy"})
FORK_BODY: Final = _request_body("ForkRequest", after_entry_40={"at": 40})
DISPUTE_BODY: Final = _request_body(
    "DisputeRequest",
    a_payment={"number": 41, "reason": "Seat 1 paid with three blue cards for a red route."},
)
WEBHOOK_BODY: Final = _request_body(
    "NewWebhook",
    secret_of_the_servers={"url": "https://bot.example.org/ledgerline"},
    own_secret={
        "url": "https://bot.example.org/ledgerline",
        "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    },
)
COMMAND_BODY: Final = _request_body(
    "PlayerCommand",
    draw_blind={"type": "draw_blind"},
    draw_market={"type": "draw_market", "slot": 2},
    claim_route={
        "type": "claim_route",
        "route": "montreal-new-york-a",
        "cards": {"blue": 2, "locomotive": 1},
    },
    keep_tickets={"type": "keep_tickets", "keep": [0, 2]},
)


def declare_document(app: FastAPI) -> None:
    """Have the application serve the completed document."""
    generate = app.openapi

    @cache
    def complete() -> Json:
        return complete_document(generate())

    app.openapi = complete  # type: ignore[method-assign]  # as FastAPI's documentation has it


def complete_document(document: Json) -> Json:
    """FastAPI's document with all models, references to contracts, and examples."""
    document["components"]["schemas"] |= component_schemas()
    completed: Json = resolve_references(document)
    examples = read_examples()
    completed["components"]["examples"] = {name: {"value": value} for name, value in examples.items()}
    for path, operations in completed["paths"].items():
        for method, operation in operations.items():
            name = example_name(method, path)
            if name in examples:
                reference = {"$ref": EXAMPLE_PATH.format(name=name)}
                success = next(reply for status, reply in operation["responses"].items() if status[0] == "2")
                success["content"]["application/json"]["examples"] = {"one": reference}
    return completed


def example_name(method: str, path: str) -> str:
    """The name of the example of an endpoint's answer."""
    parts = [part.strip("{}").replace("-", "_") for part in path.removeprefix("/v1").split("/") if part]
    return "_".join([method, *parts])


@cache
def read_examples() -> dict[str, object]:
    """An example of each endpoint's answer, by its name."""
    text = resources.files(__package__).joinpath(EXAMPLES_FILE).read_text(encoding="utf-8")
    examples: dict[str, object] = json.loads(text)
    return examples
