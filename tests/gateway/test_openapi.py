"""The OpenAPI document: every answer and body has a schema, and what the gateway sends is of that schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from schemas.commands import FIELDS, CreateGame, ForkGame, TakeSeat
from schemas.contract import field_names
from schemas.web.disputes import DisputeMove
from services.gateway.models.openapi import REQUEST_MODELS, example_name
from tests.gateway.clients import DRAW, CreatedGame, bearer, in_turn, new_id

OPERATION_IDS = {
    "create_v1_games_post", "join_v1_games__game__join_post", "start_v1_games__game__start_post",
    "fork_v1_games__game__forks_post", "play_off_v1_games__game__play_off_post",
    "offer_rematch_v1_games__game__rematch_post", "find_rematch_v1_games__game__rematch_get",
    "command_v1_games__game__commands_post", "view_v1_games__game__view_get", "dispute_v1_games__game__disputes_post",
    "disputes_v1_games__game__disputes_get", "one_v1_games__game__disputes__dispute__get", "health_health_get",
    "live_health_live_get", "ready_health_ready_get", "index_rules_get", "rule_rules__rule__get",
    "withdraw_token_v1_games__game__withdraw_token_post", "stream_v1_games__game__stream_get",
    "leave_v1_games__game__leave_post", "end_v1_games__game__end_post", "free_v1_games__game__seats__seat__free_post",
    "seat_bot_v1_games__game__seats__seat__bot_post", "set_webhook_v1_games__game__webhook_put",
    "push_key_v1_push_key_get", "set_push_v1_games__game__push_put", "remove_push_v1_games__game__push_delete",
    "send_test_v1_games__game__webhook_test_post", "webhook_v1_games__game__webhook_get", "remove_webhook_v1_games__game__webhook_delete", "list_games_v1_games_get",
    "state_v1_games__game__state_get", "legal_v1_games__game__legal_get", "game_board_v1_games__game__board_get",
    "boards_v1_boards_get", "board_v1_boards__board__get", "replay_v1_games__game__replays_get",
    "replayed_table_v1_games__game__replays__number__get", "suggestions_v1_games__game__suggestions_get",
    "judged_choice_v1_games__game__choices__place__get",
    "audit_v1_games__game__audit_get", "game_file_v1_games__game__file_get",
    "board_picture_v1_boards__board__svg_get", "rulesets_v1_rulesets_get",
    "public_keys_v1_public_keys_get",
}  # fmt: skip


@pytest.fixture(scope="module")
def document(http: httpx.Client) -> Any:
    return http.get("/openapi.json").json()


def require_declared(document: Any, method: str, path: str, reply: httpx.Response) -> None:
    """Assert that an answer is of the schema that the document has for its status."""
    content = document["paths"][path][method]["responses"][str(reply.status_code)]["content"]
    schema = content[reply.headers["content-type"]]["schema"]
    Draft202012Validator({**schema, "components": document["components"]}).validate(reply.json())


def test_operation_ids_stay(document: Any) -> None:
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    assert {operation["operationId"] for operation in operations} == OPERATION_IDS
    assert len(operations) == len(OPERATION_IDS)


def test_every_success_names_a_schema_and_every_reference_leads_to_one(document: Any) -> None:
    for path, methods in document["paths"].items():
        for operation in methods.values() if not path.endswith(("/svg", "/file", "/stream")) else ():
            (success, *_) = [reply for status, reply in operation["responses"].items() if status[0] == "2"]
            assert success["content"]["application/json"]["schema"].keys() & {"$ref", "anyOf"}, path
    names = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert {"CreateGameRequest", "PlayerCommand", "Problem", "ViewPage"} <= names
    assert names <= document["components"]["schemas"].keys()


def test_every_answer_has_an_example_of_its_schema(document: Any) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = next(reply for status, reply in operation["responses"].items() if status[0] == "2")[
                "content"
            ]
            if "application/json" not in content:
                continue
            name = example_name(method, path)
            assert content["application/json"]["examples"] == {
                "one": {"$ref": f"#/components/examples/{name}"}
            }
            schema = {**content["application/json"]["schema"], "components": document["components"]}
            Draft202012Validator(schema).validate(document["components"]["examples"][name]["value"])


def test_an_operation_lists_the_errors_that_it_can_answer_alone(document: Any) -> None:
    errors = {
        path: {method: {*operation["responses"]} for method, operation in methods.items()}
        for path, methods in document["paths"].items()
    }
    assert errors["/health/live"]["get"] == {"200", "429"}
    assert errors["/v1/rulesets"]["get"] == {"200", "429"}
    assert errors["/v1/games"]["get"] == {"200", "422", "429", "503"}
    assert errors["/v1/games/{game}/view"]["get"].isdisjoint({"409", "413", "415"})
    assert "409" in errors["/v1/games/{game}/audit"]["get"]
    assert {"401", "403", "404", "409", "413", "415", "422", "501", "503"} <= errors["/v1/games/{game}/join"][
        "post"
    ]


def test_no_mapping_names_its_values_by_patterns_alone(document: Any) -> None:
    described = {
        name: schema for name, schema in document["components"]["schemas"].items() if name != "OptionType"
    }
    assert '"patternProperties"' not in json.dumps(described), "generated clients would drop the values"


def open_objects(schema: Any, path: str = "") -> Iterator[str]:
    """Where a schema allows fields that it doesn't name or give a type."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and schema.get("additionalProperties", True) is True:
            yield path
        for key, part in schema.items():
            if key not in ("example", "examples"):
                yield from open_objects(part, f"{path}/{key}")
    elif isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from open_objects(part, f"{path}/{index}")


def test_every_object_names_its_fields_or_gives_them_a_type(document: Any) -> None:
    assert list(open_objects(document)) == []


def test_answers_about_tables_are_of_their_schemas(http: httpx.Client, document: Any) -> None:
    ada, _ = in_turn(http)
    game, headers = f"/v1/games/{ada.game}", bearer(ada.token)
    for path in ("/v1/games", "/v1/boards", "/v1/boards/usa", "/v1/rulesets"):
        require_declared(document, "get", path.replace("/usa", "/{board}"), http.get(path))
    for name in ("state", "state?since=0", "state?at=3", "legal", "board", "replays", "replays/6"):
        reply = http.get(f"{game}/{name}", headers=headers)
        assert reply.status_code == 200, reply.text
        path = name.partition("?")[0].replace("/6", "/{number}")
        require_declared(document, "get", f"/v1/games/{{game}}/{path}", reply)


def test_answers_about_a_table_in_parts_are_of_their_schemas(http: httpx.Client, document: Any) -> None:
    created = CreatedGame(http, "human", "random", "random", ruleset="tricks")
    ada = created.join("Ada")
    created.start()
    for name in ("state?legal=true", "legal", "replays", "replays/3"):
        reply = http.get(f"/v1/games/{ada.game}/{name}", headers=bearer(ada.token))
        path = name.partition("?")[0].replace("/3", "/{number}")
        require_declared(document, "get", f"/v1/games/{{game}}/{path}", reply)


def test_answers_are_of_their_schemas(http: httpx.Client, document: Any) -> None:
    created = CreatedGame(http, "human", "greedy")
    path, id_ = f"/v1/games/{created.game}", {"Idempotency-Key": new_id()}
    body = {"seats": [{"kind": "human"}, {"kind": "bot", "policy": "random"}]}
    new = http.post("/v1/games", json=body, headers=id_)
    require_declared(document, "post", "/v1/games", new)
    assert http.get(new.headers["location"]).json()["game"] == new.json()["game"]
    reply = http.post(f"{path}/join", json={"name": "Ada"})
    require_declared(document, "post", "/v1/games/{game}/join", reply)
    withdrawn = http.post(f"{path}/withdraw-token", headers=bearer(created.host))
    require_declared(document, "post", "/v1/games/{game}/withdraw-token", withdrawn)
    created.host = withdrawn.json()["token"]
    start = http.post(f"{path}/start", headers=bearer(created.host))
    require_declared(document, "post", "/v1/games/{game}/start", start)
    ada, bo = in_turn(http)
    for reply in (ada.send(DRAW), ada.send(DRAW, Prefer="respond-async"), bo.send({"type": "fly"})):
        require_declared(document, "post", "/v1/games/{game}/commands", reply)
    dispute = {"number": 5, "reason": "It looks wrong."}
    raised = http.post(f"/v1/games/{ada.game}/disputes", json=dispute, headers=bearer(ada.token))
    require_declared(document, "post", "/v1/games/{game}/disputes", raised)
    assert raised.json()["address"] == raised.headers["location"], "which carries /v1"
    answer = http.get(raised.headers["location"], headers=bearer(ada.token))
    require_declared(document, "get", "/v1/games/{game}/disputes/{dispute}", answer)
    listed = http.get(f"/v1/games/{ada.game}/disputes", headers=bearer(ada.token))
    require_declared(document, "get", "/v1/games/{game}/disputes", listed)
    for token in (None, ada.token):
        forked = http.post(f"/v1/games/{ada.game}/forks", json={"at": 6}, headers=bearer(token))
        require_declared(document, "post", "/v1/games/{game}/forks", forked)
        assert http.get(forked.headers["location"]).json()["game"] == forked.json()["game"]
        for query in ("", "?proofs=true", "?most=0"):
            page = http.get(f"/v1/games/{ada.game}/view{query}", headers=bearer(token))
            require_declared(document, "get", "/v1/games/{game}/view", page)
    for rule in ("TURN-1", "usa", "NONE-1"):
        require_declared(document, "get", "/rules/{rule}", http.get(f"/rules/{rule}"))
    require_declared(document, "get", "/rules", http.get("/rules"))
    require_declared(document, "get", "/health", http.get("/health"))


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (
            "CreateGameRequest",
            set(FIELDS[CreateGame]) - {"play_off", "fork"} | {"clock"},
        ),  # only the referee sets those; a clock becomes options
        ("JoinRequest", {*FIELDS[TakeSeat], "invitation"} - {"name_commitment"}),  # the referee makes that
        ("ForkRequest", set(FIELDS[ForkGame]) - {"of", "asker"}),  # the path and the token give those
        ("DisputeRequest", set(field_names(DisputeMove))),
    ],
)
def test_a_body_declares_the_fields_that_its_contract_reads(model: str, fields: set[str]) -> None:
    [found] = [each for each in REQUEST_MODELS if each.__name__ == model]
    assert set(found.model_fields) == fields
