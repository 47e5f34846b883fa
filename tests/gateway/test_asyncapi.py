"""The AsyncAPI document: each message that a socket sends or takes is one that it describes."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from services.gateway.models.response_models import Problem
from tests.gateway.clients import DRAW, Json, Socket, in_turn


@pytest.fixture(scope="module")
def document(http: httpx.Client) -> Any:
    return http.get("/asyncapi.json").json()


def require_described(document: Any, name: str, message: object) -> None:
    payload = document["components"]["messages"][name]["payload"]
    Draft202012Validator({**payload, "components": document["components"]}).validate(message)


def test_each_message_of_a_socket_is_described(http: httpx.Client, document: Any) -> None:
    ada, bo = in_turn(http)
    sent: list[Json] = []
    with Socket(http, ada.game, ada.token, legal=True, asked="&state=true") as socket:
        socket.wire.send(json.dumps({"id": "c1", "command": DRAW, "level": "decided", "wait_ms": 60_000}))
        socket.wire.send(json.dumps({"id": "c2", "command": {"type": "fly"}}))
        socket.wire.send(json.dumps({"id": 3, "command": DRAW}))
        while not {"attached", "entry", "acknowledged", "problem"} <= {each["type"] for each in sent}:
            sent.append(socket.receive())
    with Socket(http, ada.game, bo.token + "x") as socket:
        sent.append(socket.receive())
    for message in sent:
        require_described(document, message["type"], message)


def test_examples_and_references_of_the_document_hold(document: Any) -> None:
    for name, message in document["components"]["messages"].items():
        for example in message["examples"]:
            require_described(document, name, example["payload"])
    for reference in set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document))):
        found = document
        for part in reference.split("/"):
            found = found[part]


def test_a_problem_has_the_fields_that_it_has_over_http(document: Any) -> None:
    assert document["components"]["schemas"]["Problem"]["properties"].keys() == Problem.model_fields.keys()
