"""The AsyncAPI document of a game's WebSocket: which messages it sends and takes, made from the contracts.

`python -m schemas.json_schema` writes it to schemas/json/asyncapi.json with the JSON Schemas, and a gateway serves it."""

from __future__ import annotations

from typing import Final

from schemas.contract import Json
from schemas.published_contracts import ALL_RULES, COMPONENTS, contract_components

CHANNEL: Final = "#/channels/play"
TEXT: Final[Json] = {"type": "string"}
NUMBER: Final[Json] = {"type": "integer", "minimum": 0}
HEAD: Final[Json] = {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"}
LEVEL: Final[Json] = {"type": ["string", "null"], "examples": ["decided", "durable", "replicated:2"]}
DESCRIPTION: Final = """\
A game's WebSocket sends a view as it grows, and takes commands. The token is in the Authorization header, or the subprotocols
are `ledgerline, token.<token>`, or, with `?authenticate=true`, the client's first message is `{"token": ".."}` within 5 s. It never
stands in the address. The first message of the server is `attached`, or a `problem` before the socket is closed with 1008.
Closing codes: 4001 come back and go on, 4002 begin anew from 0, 1000 the game is over and archived."""

QUERY: Final[Json] = {
    "type": "object",
    "properties": {
        "after": {**NUMBER, "description": "the number of the last entry that the client has"},
        "head": {**TEXT, "description": "the head after that entry, in hex"},
        "proofs": {"type": "boolean", "description": "entries have the bytes that the chain is made of"},
        "legal": {"type": "boolean", "description": "the latest entry has the seat's legal commands"},
        "state": {"type": "boolean", "description": "the latest entry has what has changed on the table"},
        "alive": {
            "type": "boolean",
            "description": "`alive` comes every 5 s at most: after 9 s without any message come back",
        },
        "authenticate": {"type": "boolean", "description": "the token comes in the first message"},
    },
    "additionalProperties": False,
}


def describe_socket() -> Json:
    """The document."""
    messages = {**_sent_messages(), **_received_messages()}
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Ledgerline", "version": "1", "description": DESCRIPTION},
        "defaultContentType": "application/json",
        "servers": {"local": {"host": "127.0.0.1:8720", "protocol": "ws"}},
        "channels": {
            "play": {
                "address": "/v1/games/{game}/play",
                "parameters": {"game": {"description": "the game's id"}},
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
                "bindings": {"ws": {"method": "GET", "query": QUERY, "bindingVersion": "0.1.0"}},
            }
        },
        "operations": {
            "send": _operation("send", _sent_messages()),
            "receive": _operation("receive", _received_messages()),
        },
        "components": {
            "messages": messages,
            "schemas": {**_socket_schemas(), **_contracts()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(action: str, messages: Json) -> Json:
    return {
        "action": action,
        "channel": {"$ref": CHANNEL},
        "messages": [{"$ref": f"{CHANNEL}/messages/{name}"} for name in messages],
        **({"security": [{"$ref": "#/components/securitySchemes/token"}]} if action == "receive" else {}),
    }


def _message(summary: str, payload: Json, example: Json) -> Json:
    return {"summary": summary, "payload": payload, "examples": [{"payload": example}]}


def _typed(type_: str, required: Json, **optional: Json) -> Json:
    """A message with a `type`; it has no other fields than these."""
    return _object({"type": {"const": type_}, **required}, **optional)


def _object(required: Json, **optional: Json) -> Json:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": [*required],
        "additionalProperties": False,
    }


def _ref(name: str) -> Json:
    return {"$ref": COMPONENTS + name}


def _sent_messages() -> Json:
    """The messages that the server sends, by name."""
    attached = _typed("attached", {"number": NUMBER, "head": HEAD})
    entry = {"type": {"const": "entry"}, **ENTRY}
    at_level = {"id": TEXT, "level": LEVEL}
    acknowledged = _typed("acknowledged", at_level, number=NUMBER, head=HEAD)
    unknown = _typed("unknown", {**at_level, "detail": TEXT}, number=NUMBER, head=HEAD)
    problem = _typed(
        "problem",
        {
            "id": {"type": ["string", "number", "boolean", "object", "array", "null"]},
            "problem": _ref("Problem"),
        },
    )
    problem["properties"]["id"]["description"] = "as the client sent it; null where none was read"
    refused = {
        "type": "/rules/TURN-1",
        "title": ALL_RULES["TURN-1"],
        "status": 409,
        "detail": "it isn't your turn",
        "rule": "TURN-1",
    }
    return {
        "attached": _message("Where the log is; the first message.", attached, {"type": "attached", "number": 6, "head": "5f" * 32}),
        "entry": _message("An entry of the view, and the verdict on the command that it answers.", _object(entry, **ENTRY_OPTIONS),
                          {"type": "entry", "number": 7, "at": 5310, "answers": "c1", "events": [{"type": "turn_started", "seat": 0}], "head": "5f" * 32}),
        "alive": _message("A sign of life, where `?alive=true` asks for it, and how many follow the game at this server without a seat.",
                          _typed("alive", {"watching": {"type": "integer"}}), {"type": "alive", "watching": 2}),
        "acknowledged": _message("A command has the level that was asked for.", acknowledged, {"type": "acknowledged", "id": "c1", "level": "durable", "number": 7, "head": "5f" * 32}),
        "unknown": _message("A command has no verdict in time, or not at that level; send it again with the same id.", unknown,
                            {"type": "unknown", "id": "c1", "level": "accepted", "detail": "send it again with the same id"}),
        "problem": _message("A command that gets no entry, or a wrong opening.", problem, {"type": "problem", "id": "c1", "problem": refused}),
    }  # fmt: skip


def _received_messages() -> Json:
    """The messages that the server takes, by name."""
    command = _object(
        {"command": _ref("PlayerCommand")},
        id={**TEXT, "description": "the command's: sent again with it, it is never executed twice"},
        level={**TEXT, "description": "how durable the answer must be"},
        wait_ms={"type": "integer", "minimum": 1, "description": "how long to wait for it"},
    )
    return {
        "token": _message("The token, in the first message.", _object({"token": TEXT}), {"token": "ll1.jg4k2v8Q.M2Y5YTFj.c2lnbmF0dXJl"}),
        "command": _message("A command of the seat whose token it is.", command, {"id": "c1", "command": {"type": "draw_blind"}}),
    }  # fmt: skip


ENTRY: Final[Json] = {
    "number": {"type": "integer", "minimum": 1},
    "at": {**NUMBER, "description": "milliseconds of the game clock"},
    "answers": {
        "type": ["string", "null"],
        "description": "the id of the seat's own command that it decides",
    },
    "events": {"type": "array", "items": _ref("Event")},
    "head": HEAD,
}
ENTRY_OPTIONS: Final[Json] = {
    "proof": _object({"public": TEXT, "part": {"type": ["string", "null"]}}),
    "legal": {"type": "array", "items": _ref("PlayerCommand")},
    "state": {
        "type": "object",
        "description": "the fields of the table (as GET /v1/games/{game}/state has it, with `since` and `legal`) that have changed since "
        "this socket sent some, at first all; and the moves since then",
    },
}


def _socket_schemas() -> dict[str, Json]:
    """The schema that only messages hold: the problem (RFC 9457)."""
    errors = {"type": "array", "items": _object({"field": TEXT, "detail": TEXT})}
    problem = _object(
        {"type": TEXT, "title": TEXT, "status": {"type": "integer"}},
        detail=TEXT, rule={"enum": sorted(ALL_RULES)}, field=TEXT, errors=errors, id={"type": ["string", "null"]}, number=NUMBER,
        level=LEVEL, head=HEAD, entry={"anyOf": [_object(ENTRY), {"type": "null"}]}, asked=TEXT, verdict={"const": "unknown"},
        retry_after=NUMBER,
    )  # fmt: skip
    return {"Problem": {"description": "An error, as RFC 9457 describes it.", **problem}}


def _contracts() -> dict[str, Json]:
    """The contracts that messages hold."""
    components = contract_components()
    allowed = {each["$ref"].removeprefix(COMPONENTS) for each in components["PlayerCommand"]["oneOf"]}
    return {
        name: schema
        for name, schema in components.items()
        if name in allowed or not name.startswith("Command")
    }
