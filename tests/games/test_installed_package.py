"""Bids, installed as a package of its own into a fresh environment, is played there: by bots, over the API, in the browser."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.games.added_package import BIDS
from tests.games.installed import Environment

WAIT_S = 60.0


@pytest.fixture(scope="module")
def with_bids(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("environment"))
    made.install(BIDS)
    return made


@pytest.fixture(scope="module")
def url(with_bids: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with with_bids.serving(tmp_path_factory.mktemp("data")) as opened:
        yield opened


@pytest.mark.long
def test_bots_play_it_through_the_real_pipeline_and_its_audit_finds_nothing(
    with_bids: Environment, tmp_path: Path
) -> None:
    data = str(tmp_path)
    played = with_bids.run(
        "play", "--rules", "bids", "--seats", "random,random", "--json", LEDGERLINE_DATA=data
    )
    assert played.returncode == 0, played.stderr
    game = json.loads(played.stdout)
    assert game["ended"] == "all played"
    assert 0 < sum(seat["prizes"] for seat in game["seats"]) <= sum(range(14))
    audited = with_bids.run("audit", game["game"], LEDGERLINE_DATA=data)
    assert audited.returncode == 0, audited.stdout
    forked = with_bids.run("fork", game["game"], "--at", "5", LEDGERLINE_DATA=data)
    assert (forked.returncode, forked.stderr.count("\n")) == (2, 1)
    assert "can't be laid again, by its rules bids" in forked.stderr


@pytest.mark.long
def test_it_may_be_imported_before_the_product(with_bids: Environment) -> None:
    product = "from services.referee.games import RULESETS"
    asked = f"import ledgerline_bids; {product}; print(RULESETS['bids'] is ledgerline_bids.BIDS.rulesets[0])"
    found = with_bids.run_python("-c", asked)
    assert found == (0, "True\n", "")


@pytest.mark.long
def test_a_person_plays_it_over_the_api_to_its_end(url: str) -> None:
    with httpx.Client(base_url=f"{url}/v1", timeout=60, trust_env=False) as http:
        seats = [{"kind": "human"}, {"kind": "bot", "policy": "random"}]
        body = {"ruleset": "bids", "seats": seats, "visibility": "public"}
        created = http.post("/games", json=body).raise_for_status().json()
        path = f"/games/{created['game']}"
        joined = http.post(f"{path}/join", json={"name": "Ada"}).raise_for_status().json()
        host, own = ({"Authorization": f"Bearer {one['token']}"} for one in (created, joined))
        http.post(f"{path}/start", headers=host).raise_for_status()
        refused = http.post(f"{path}/commands", headers=own, json={"type": "lay_bid", "bid": "14"}).json()
        assert (refused["title"], refused["detail"]) == (
            "A seat lays one of the bids that it still has.",
            "you have no bid 14",
        )
        assert "each once" in httpx.get(f"{url}{refused['type']}", trust_env=False).text
        for bid in range(1, 14):
            assert wait_for_commands(http, path, own)[0]["text"] == f"bid {bid}"
            done = http.post(f"{path}/commands", headers=own, json={"type": "lay_bid", "bid": str(bid)})
            assert done.is_success, done.text
        state = http.get(f"{path}/state").raise_for_status().json()
        assert state["ended"] == "all played"
        points = [part["number"] for part in state["parts"] if part["name"] == "points"]
        assert points == [score["total"] for score in state["result"]]
        forked = http.post(f"{path}/forks", headers=host, json={"at": 5})
        assert (forked.status_code, forked.json()["type"]) == (422, "/rules/GAME-6")
        assert "can't be laid again, by its rules bids" in forked.json()["detail"]


def wait_for_commands(http: httpx.Client, path: str, headers: dict[str, str]) -> list[Any]:
    """The commands of the seat, once it is asked."""
    deadline_s = time.monotonic() + WAIT_S
    while time.monotonic() < deadline_s:
        document = http.get(f"{path}/legal", headers=headers).raise_for_status().json()
        if document["commands"]:
            commands: list[Any] = document["commands"]
            return commands
        time.sleep(0.02)
    raise AssertionError("the seat isn't asked")
