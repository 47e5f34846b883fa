"""The OpenAPI document: its description, bodies of requests, errors, models that FastAPI doesn't see, and examples of
answers.

The contracts of schemas/ read the bodies themselves (request_parsing.py, service.py): their errors name the
field and the rule, and nothing is read before the caller may send it. These models declare the same fields.
"""

from __future__ import annotations

import json
from dataclasses import MISSING
from dataclasses import fields as contract_fields
from functools import cache
from importlib import resources
from typing import Annotated, Final, get_type_hints

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.json_schema import JsonSchemaValue, models_json_schema

from schemas.commands import CreateGame, ForkGame, SeatBot, TakeSeat
from schemas.contract import COMMAND_REGISTRY, EVENT_REGISTRY, Json
from schemas.field_types import JsonObject, Name, Slug, Text
from schemas.published_contracts import ALL_RULES, contract_components, in_order, simplify
from schemas.web.disputes import DisputeMove
from schemas.web.webhooks import PushKeysRequest, PushRequest, WebhookRequest
from services.gateway.models.explanation_models import ANSWER_PARTS
from services.gateway.models.response_models import (
    Problem,
    UnknownVerdict,
    option_components,
    refers_to,
    resolve_references,
)
from services.gateway.models.trains import COMMAND_EXAMPLES, DISPUTE_EXAMPLES, POSITION_FIELD, REFUSAL_EXAMPLE

SCHEMA_PATH: Final = "#/components/schemas/{model}"


class RequestModel(BaseModel):
    """Base of the bodies: a field that the model doesn't declare is refused."""

    model_config = ConfigDict(extra="forbid")


def _body(
    name: str, contract: type, meaning: str, /, **fields: str | tuple[object, str]
) -> type[RequestModel]:
    """The model of a body: these fields of the contract that reads it, each with what it means; some in a form of their own."""
    hints = get_type_hints(contract, include_extras=True)
    defaults = {
        each.name: ... if each.default is MISSING else each.default for each in contract_fields(contract)
    }
    declared = {
        field: (hints[field], text) if isinstance(text, str) else text for field, text in fields.items()
    }
    return create_model(  # type: ignore[no-any-return, call-overload]  # of fields that are found here
        name,
        __base__=RequestModel,
        __doc__=meaning,
        **{
            field: (Annotated[form, Field(description=text)], defaults.get(field))
            for field, (form, text) in declared.items()
        },
    )


BOARD_NAME: Final = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,39}$")]
OPTIONS: Final = Annotated[JsonObject, refers_to("RuleOptionChoices")]
PUSH_KEYS: Final = _body(
    "PushKeys",
    PushKeysRequest,
    "The keys of a browser, in base64url.",
    p256dh="its point of P-256",
    auth="16 shared bytes",
)
REQUEST_MODELS: Final = (
    _body(
        "CreateGameRequest",
        CreateGame,
        "A new game: which rules, which board, who plays, what differs from the usual.",
        seats="who sits where: a bot with its policy, or a person",
        ruleset="else the one that the board is usually played with",
        board=(
            BOARD_NAME | Annotated[JsonObject, refers_to("BoardForm")] | None,
            "a built-in board's name, or a board of your own; else the ruleset's own",
        ),
        seed="games of bots alone are dealt by it; where a person may sit it is mixed with random bytes",
        options=(OPTIONS | None, "rule options that are set otherwise"),
        clock=(
            Slug | None,
            "a clock by name: GET /v1/rulesets lists them; `options` may set it otherwise",
        ),
        position=POSITION_FIELD,
        visibility="public: listed; unlisted: watched by who knows the id; players: by who holds a token of it. Else unlisted",
        spectator_delay="how many entries late the public view is until the game is over; else none",
        by_invitation="a seat is taken only with the invitation that its host gives",
        suggestions="whether seats may ask for suggestions while the game is played; else they may",
        undo="whether a seat takes back its last move that showed nothing hidden: consent: if the others agree; free; else never",
    ),
    _body(
        "JoinRequest",
        TakeSeat,
        "A free seat: this one, or the first.",
        name=(Name, "as the others at the table see it"),
        seat="a free seat; else the first one",
        age="in whole years; counts where the oldest or the youngest begins",
        contribution="32 random bytes of your own, in hex",
        invitation=(
            Text | None,
            "to this seat; in a fork the token of the same seat of the first game does too",
        ),
    ),
    _body(
        "SeatBotRequest",
        SeatBot,
        "The bot that takes a free seat.",
        policy="how it plays: GET /v1/rulesets lists the policies",
    ),
    _body(
        "ForkRequest", ForkGame, "The entry after which the new game goes on.", at="the number of an entry"
    ),
    _body(
        "DisputeRequest",
        DisputeMove,
        "The disputed entry, and why it is disputed.",
        number="the number of an entry",
        reason="in words; the answer takes them up",
    ),
    _body(
        "NewWebhook",
        WebhookRequest,
        "The web address to be notified when the seat is asked for something.",
        url="https, unless the server allows http too; it must lead to a public address",
        secret="whsec_ and 24 to 64 random bytes in base64, to sign with; else the server makes one",  # noqa: S106 - what it is
        form="whose form the body has: this server's own, or a sentence for Discord or Slack",
    ),
    _body(
        "NewPush",
        PushRequest,
        "A browser that is told when the seat is asked for something, as its `PushSubscription` describes itself.",
        endpoint="https, at a public address",
        keys=(PUSH_KEYS, "of the browser"),
    ),
)


def component_schemas() -> dict[str, JsonSchemaValue]:
    """The JSON schemas that no handler declares to FastAPI, by the names that `SCHEMA_PATH` refers to."""
    _, definitions = models_json_schema(
        [(model, "validation") for model in (*REQUEST_MODELS, *ANSWER_PARTS, Problem)],
        ref_template=SCHEMA_PATH,
    )
    schemas = {
        **simplify(definitions["$defs"]),
        **contract_components(in_order(EVENT_REGISTRY.classes), in_order(COMMAND_REGISTRY.classes)),
        **option_components(),
    }
    del schemas["SeatPlan"]["properties"]["name_commitment"]  # in a log alone
    return schemas


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
   to each free seat; with `"by_invitation": true` a join must send one. docs/how-to/access.md explains.
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
   gives your seat and token in the game that follows. It starts by itself. After any game `POST .../rematch` makes
   one more of its kind, with a place for each who sat there; `GET` says whether somebody has.
7. `POST /v1/games/{game}/forks` with `{"at": N}` creates a new game where this one stood after entry N.
   While this one goes on, what your token's seat (or without one, the public) couldn't see there is
   dealt again, and your seat in the new game is yours: `seat_token`.

To follow a game without asking again, `GET /v1/games/{game}/stream?after=N`: one JSON object a line (NDJSON), first
`{"type": "attached", ..}`, then each entry as it happens, `{"type": "alive", "number": N, "head": ".."}` every 15 s while
nothing does, and `{"type": "closed", "code": .., "reason": ".."}` at the end: `curl -N` shows it.

Instead of keeping a socket open, register a webhook: `PUT /v1/games/{game}/webhook` with `{"url": "https://.."}`.
It is sent a signed POST when your seat is to act or to choose, and when the game is over (docs/how-to/clients.md).

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
when you join: then nobody else chose the deal. docs/reference/proof.md explains how.

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
    409: _problem_response(409, REFUSAL_EXAMPLE[0], "A rule forbids it, or the id was sent with another command (ID-1)", REFUSAL_EXAMPLE[1]),
    413: _problem_response(413, "SIZE-1", "Too large", "body: has more than 16384 bytes"),
    415: _problem_response(415, "SHAPE-1", "No JSON", "the body's Content-Type must be application/json"),
    422: _problem_response(422, "SHAPE-1", "Not of the right form", "seats: must be 8 items or fewer"),
    429: _problem_response(429, "RATE-1", "Too fast (RATE-1), or the server is busy (BUSY-1): nothing was sent, try again",
                           "more than 50 commands a second"),
    501: _problem_response(501, "LEVEL-1", "The engine can't give this level", "the engine keeps no AOF: set appendonly yes"),
    503: _problem_response(503, "WAIT-1", "No answer in time, or the engine doesn't answer: ask again with the same id",
                           "game 3f9a1c0b77e2 isn't there yet; ask again"),
}
# fmt: on
PROBLEM_RESPONSES[429]["headers"] = {
    name: {"description": meaning, "schema": {"type": "string"}}
    for name, meaning in {
        "Retry-After": "in so many seconds ask again",
        "RateLimit-Policy": "with RATE-1: what is counted, `q` of it in `w` seconds",
        "RateLimit": "with RATE-1: `r` of it are left; there are more in `t` seconds",
    }.items()
}

SHOWN_AT_THE_END: Final = ("/audit", "/file", "/choices/{place}")  # GAME-7 while the game goes on
ANSWERED_FROM_MEMORY: Final = {
    "/health/live",
    "/rules",
    "/rules/{rule}",
    "/v1/boards",
    "/v1/rulesets",
    "/v1/public-keys",
    "/v1/push-key",
}
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
CREATED_RESPONSE: Final[StatusResponses] = {
    201: {
        "headers": {
            "Location": {
                "description": "where the new game's table is",
                "required": True,
                "schema": {"type": "string", "format": "uri-reference"},
            }
        }
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
    """The `openapi_extra` of a handler that reads its body by hand, so that FastAPI knows no model of it."""
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
    **DISPUTE_EXAMPLES,
)
WEBHOOK_BODY: Final = _request_body(
    "NewWebhook",
    secret_of_the_servers={"url": "https://bot.example.org/ledgerline"},
    discord={"url": "https://discord.com/api/webhooks/1/abc", "form": "discord"},
    own_secret={
        "url": "https://bot.example.org/ledgerline",
        "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    },
)
PUSH_BODY: Final = _request_body(
    "NewPush",
    a_browser={
        "endpoint": "https://push.example.org/send/3f9a1c0b",
        "keys": {
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg",
        },
    },
)
COMMAND_BODY: Final = _request_body(
    "PlayerCommand",
    **COMMAND_EXAMPLES,
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
            for status in _impossible(method, path, operation):
                del operation["responses"][status]
            name = example_name(method, path)
            if name in examples:
                reference = {"$ref": EXAMPLE_PATH.format(name=name)}
                success = next(reply for status, reply in operation["responses"].items() if status[0] == "2")
                success["content"]["application/json"]["examples"] = {"one": reference}
    return completed


def _impossible(method: str, path: str, operation: Json) -> list[str]:
    """The statuses of errors that the document has everywhere, and that this operation can't answer."""
    schemes = {scheme for each in operation.get("security", ()) for scheme in each}
    takes_invitation = path.endswith("/join")  # which is a token as well
    has_body, is_of_game = "requestBody" in operation, "{game}" in path
    parameters = operation.get("parameters", ())
    possible = {
        "401": "HTTPBearer" in schemes or takes_invitation,
        "403": bool(schemes) or takes_invitation,
        "404": "{" in path,
        "409": method in {"post", "put"} or path.endswith(SHOWN_AT_THE_END),
        "413": has_body,
        "415": has_body,
        "422": has_body or is_of_game or any(each["schema"] != {"type": "string"} for each in parameters),
        "501": is_of_game or any(each["name"] == "level" for each in parameters),
        "503": path not in ANSWERED_FROM_MEMORY,
    }
    return [status for status, can_be in possible.items() if not can_be and status in operation["responses"]]


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
