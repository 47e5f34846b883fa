"""Requests that schemathesis makes of the OpenAPI document, by holders of tokens: each answer is one that the document has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from schemathesis import Case, GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi import checks

from services.bootstrap.embedded import run_embedded_server
from tests.gateway.clients import LEAVE, Json, bearer, in_turn, minted
from tests.long_runs import short_and_long
from tests.many_clients import settings_for_many_clients
from tests.process_faults.seeds import SOAK

KEY: Final = "k" * 32
ANSWER_S: Final = 120.0  # on a busy machine
NEVER_WITHDRAWN: Final = 1 << 30  # a generation that no withdrawal in these tests reaches
AS_DESCRIBED: Final = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
TOO_LARGE: Final = 413  # rejects a wrong request too; schemathesis doesn't count it
ASKED_FOR: Final = {"LEVEL-1", "WAIT-1"}  # a level that the engine can't give, a wait that is too short
SAME_EXAMPLES: Final = settings(
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Played(NamedTuple):
    """A gateway, and what requests to it name: tokens, and parts of paths that exist."""

    http: httpx.Client
    url: str
    tokens: list[str | None]
    found: dict[str, list[str]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    settings = settings_for_many_clients(token_key=SecretStr(KEY))
    with (
        run_embedded_server(tmp_path_factory.mktemp("server"), settings) as running,
        httpx.Client(base_url=running.url, timeout=60, trust_env=False) as http,
    ):
        ada = in_turn(http, options={"refusals_kept": 1_000})[0]
        host, own, other = (minted(KEY, ada.game, seat, NEVER_WITHDRAWN) for seat in (None, 0, 1))
        raised = http.post(
            f"/v1/games/{ada.game}/disputes", json={"number": 5, "reason": "?"}, headers=bearer(own)
        )
        late = in_turn(http, visibility="players", spectator_delay=3)[0]
        over = in_turn(http)
        for player in over:
            player.send(LEAVE)
        found = {
            "number": ["1", "6", "7"],
            "place": ["0", "1"],
            "over": [over[0].game],
            "game": [ada.game, ada.game, late.game],
            "dispute": [raised.json()["dispute"]],
            "rule": ["usa", "TURN-1"],
            "board": ["usa", "europe"],
            "seat": ["0", "1"],
        }
        yield Played(http, running.url, [own, own, other, host, late.token, None, "of nobody"], found)


def document_without_tokens(played: Played) -> Json:
    """The document; tokens are the tests' own, so that schemathesis makes none up."""
    document: Json = played.http.get("/openapi.json").json()
    for operations in document["paths"].values():
        for operation in operations.values():
            operation.pop("security", None)
    return document


def require_described(case: Case[Any], played: Played, token: str | None) -> None:
    """Send a request, whose answer must be as the document has it, and no error of the server's own."""
    response = case.call(headers=bearer(token), timeout=ANSWER_S)
    if response.status_code >= 500:
        assert any(f'"rule":"{rule}"' in response.text for rule in ASKED_FOR), case.as_curl_command()
    is_rejected = response.status_code == TOO_LARGE
    rejections = [] if is_rejected else [checks.negative_data_rejection]
    case.validate_response(response, checks=[*AS_DESCRIBED, *rejections])


def has_wrong_path(case: Case[Any]) -> bool:
    """Whether a part of its path was made to be wrong: with what exists in its place, nothing might be."""
    path = case.meta.components.get(ParameterLocation.PATH) if case.meta else None
    return path is not None and path.mode is GenerationMode.NEGATIVE


def require_all_described(cases: st.SearchStrategy[Case[Any]], played: Played, examples: int) -> None:
    """Send so many of the requests, most of them about what exists."""

    @settings(SAME_EXAMPLES, max_examples=examples)
    @given(case=cases, data=st.data())
    def request(case: Case[Any], data: st.DataObject) -> None:
        for part in case.path_parameters or {}:
            if data.draw(st.integers(0, 4)) and not has_wrong_path(case):
                case.path_parameters[part] = data.draw(st.sampled_from(played.found[part]))
        if case.operation.path.endswith("/stream"):  # that of a game that is played has no end
            case.path_parameters["game"] = played.found["over"][0]
        require_described(case, played, data.draw(st.sampled_from(played.tokens)))

    request()


def modes(operation: APIOperation[Any, Any, Any, Any]) -> list[GenerationMode]:
    """Right requests; and wrong ones, unless the operation only has texts in its path, of which none is wrong."""
    described = operation.definition.raw
    in_query = any(parameter["in"] == "query" for parameter in described.get("parameters", ()))
    may_be_wrong = in_query or "requestBody" in described
    return [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if may_be_wrong else [])]


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("examples", short_and_long(1, 30 if SOAK else 2))
def test_every_answer_to_a_generated_request_is_described(
    played: Played, subtests: pytest.Subtests, examples: int
) -> None:
    schema = schemathesis.openapi.from_dict(document_without_tokens(played))
    schema.config.update(base_url=played.url)
    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        for mode in modes(operation):
            with subtests.test(operation.label, mode=mode.value):
                require_all_described(operation.as_strategy(mode), played, examples)
