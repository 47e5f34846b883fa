"""A server that is played on shows what happened there: commands by verdict and rule, times, followers, the engine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import httpx
import pytest

from schemas.commands import write_command
from services.bootstrap.embedded import run_embedded_server
from tests.deploy.compose import free_port
from tests.gateway.clients import Socket, bearer, begun
from tests.many_clients import PATIENT, settings_for_many_clients
from tests.metrics.test_metric_types import scrape

Shown = Mapping[tuple[str, tuple[tuple[str, str], ...]], float]


class Played(NamedTuple):
    """A server, and where its metrics are."""

    http: httpx.Client
    port: int

    def shown(self) -> Shown:
        return {
            (sample.name.removeprefix("ledgerline_"), tuple(sorted(sample.labels.items()))): sample.value
            for family in scrape(self.port).values()
            for sample in family.samples
        }

    def grown(self, before: Shown, name: str, **labels: str) -> float:
        """How much a series has grown, as soon as it has."""
        key, deadline_s = (name, tuple(sorted(labels.items()))), time.monotonic() + 30
        while not (grown := self.shown().get(key, 0) - before.get(key, 0)):
            assert time.monotonic() < deadline_s, f"{key} doesn't grow"
            time.sleep(0.05)
        return grown


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    port = free_port()
    settings = settings_for_many_clients().model_copy(update={"metrics": f"127.0.0.1:{port}"})
    with (
        run_embedded_server(tmp_path_factory.mktemp("server"), settings, limits=PATIENT) as running,
        httpx.Client(base_url=running.url, timeout=120, trust_env=False) as http,
    ):
        yield Played(http, port)


def test_commands_are_counted_by_verdict_and_by_the_rule_that_said_no(played: Played) -> None:
    # given a game in which a seat has to choose tickets
    ada = begun(played.http)[0]
    before = played.shown()
    # when it draws a card, and then chooses
    refused = played.http.post(
        f"/v1/games/{ada.game}/commands", json={"type": "draw_blind"}, headers=bearer(ada.token)
    )
    rule = refused.json()["rule"]
    chosen = write_command(ada.legal()[0])
    played.http.post(f"/v1/games/{ada.game}/commands", json=chosen, headers=bearer(ada.token))
    # then both are counted, and measured on their way
    assert played.grown(before, "commands_total", verdict="refused", rule=rule) == 1
    assert played.grown(before, "commands_total", verdict="accepted", rule="") == 1
    assert played.grown(before, "decision_seconds_count") == 2
    assert played.grown(before, "append_seconds_count") >= 1
    assert played.grown(before, "cache_lookups_total", result="hit") >= 2
    assert (
        played.grown(
            before, "http_requests_total", method="POST", route="/v1/games/{game}/commands", status="409"
        )
        == 1
    )


def test_followers_and_what_they_are_sent_are_counted(played: Played) -> None:
    ada = begun(played.http)[0]
    with Socket(played.http, ada.game, ada.token) as socket:
        socket.next()
        before = played.shown()
        assert before["sockets", ()] == before["followers", ()] == before["followed_games", ()] == 1
        socket.send("c1", write_command(ada.legal()[0]))
        assert played.grown(before, "delivered_entries_total") == 1
        assert played.grown(before, "notify_seconds_count") == 1
        assert played.grown(before, "verdict_seconds_count") == 1


def test_the_gateway_shows_the_engine_the_services_and_each_partition(played: Played) -> None:
    deadline_s = time.monotonic() + 30
    while not (shown := played.shown()).get(("ready", ())):
        assert time.monotonic() < deadline_s
        time.sleep(0.1)
    assert shown["engine_nodes", (("state", "ok"),)] == 1
    assert shown["services", (("kind", "referee"),)] == 1
    assert shown["engine_memory_bytes", (("node", ""),)] > 0
    assert shown["engine_aof_bytes", (("node", ""),)] > 0
    assert (
        0 < shown["disk_free_bytes", (("disk", "engine"),)] < shown["disk_size_bytes", (("disk", "engine"),)]
    )
    partitions = {dict(labels)["partition"] for name, labels in shown if name == "queue_oldest_seconds"}
    assert partitions == {str(partition) for partition in range(16)}
    assert played.grown(shown, "engine_write_seconds_count") >= 1
    assert shown["leased_partitions", ()] == 16
