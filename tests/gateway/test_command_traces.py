"""A command has one trace, under its id: from its sender over queue, referee and append to all who follow the game."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Final

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from schemas.commands import write_command
from schemas.errors import InvalidInputError
from services.bootstrap.embedded import run_embedded_server
from services.gateway.games.command_tracking import LOGGED_ID_PREFIX
from services.runtime import command_traces
from services.runtime.command_traces import span_ids
from tests.gateway.clients import Player, Socket, bearer, begun
from tests.many_clients import PATIENT, settings_for_many_clients

WAY: Final = {"command", "queue", "decide", "append", "notify"}
CALLER: Final = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def export_to(exporter: InMemorySpanExporter, provider: TracerProvider) -> None:
    provider.add_span_processor(SimpleSpanProcessor(exporter))


@pytest.fixture(scope="module")
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    with command_traces.tracing("all", partial(export_to, exporter)):
        yield exporter


@pytest.fixture(scope="module")
def http(spans: InMemorySpanExporter, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("server")
    with (
        run_embedded_server(folder, settings_for_many_clients(), limits=PATIENT) as running,
        httpx.Client(base_url=running.url, timeout=120, trust_env=False) as client,
    ):
        yield client


def trace_of(spans: InMemorySpanExporter, player: Player, id_: str) -> dict[str, ReadableSpan]:
    """The spans of a command by name, as soon as its whole way is there."""
    trace, deadline_s = span_ids(player.game, player.seat, id_).trace, time.monotonic() + 30
    while time.monotonic() < deadline_s:
        found = [each for each in spans.get_finished_spans() if each.context.trace_id == trace]
        if {each.name for each in found} >= WAY:
            return {each.name: each for each in found}
        time.sleep(0.01)
    raise AssertionError({each.name for each in found})


def require_one_way(trace: dict[str, ReadableSpan], game: str, id_: str) -> None:
    """The whole way is the root, and every part of it is below it, in order."""
    root = trace["command"]
    assert root.parent is None
    for name in WAY - {"command"}:
        parent = trace[name].parent
        assert parent is not None and parent.span_id == root.context.span_id, name
    for span in trace.values():
        assert span.attributes is not None
        assert (span.attributes["ledgerline.command"], span.attributes["ledgerline.game"]) == (id_, game)
    ends: Sequence[int] = [trace[name].end_time or 0 for name in ("queue", "decide", "append")]
    assert sorted(ends) == ends


def hear_one(bo: Player, follower: Socket) -> None:
    """Let an entry reach a follower: what comes after it is notified, and not read with what was there before."""
    number = bo.do(bo.legal()[0])["number"]
    while follower.next()["number"] < number:
        pass


def test_a_command_over_http_has_one_trace_that_its_caller_s_is_linked_to(
    http: httpx.Client, spans: InMemorySpanExporter
) -> None:
    # given a game that somebody follows
    ada, bo = begun(http)
    with Socket(http, ada.game, ada.token) as follower:
        hear_one(bo, follower)
        # when a seat sends a command, as a part of a trace of its own
        headers = {**bearer(ada.token), "Idempotency-Key": "traced-1", "traceparent": CALLER}
        answer = http.post(
            f"/v1/games/{ada.game}/commands", json=write_command(ada.legal()[0]), headers=headers
        )
        assert answer.status_code == 200, answer.text
        trace = trace_of(spans, ada, "traced-1")
    # then one trace has its whole way, to those who follow
    require_one_way(trace, ada.game, "traced-1")
    [link] = trace["command"].links
    assert f"{link.context.trace_id:032x}" in CALLER
    assert (trace["notify"].attributes or {})["followers"] == 1
    assert (trace["append"].attributes or {})["sequence"] == answer.json()["number"]


def test_a_command_on_a_socket_has_one_trace(http: httpx.Client, spans: InMemorySpanExporter) -> None:
    ada, bo = begun(http)
    with Socket(http, ada.game, ada.token) as socket:
        hear_one(bo, socket)
        socket.send("traced-2", write_command(ada.legal()[0]))
        trace = trace_of(spans, ada, "traced-2")
    require_one_way(trace, ada.game, "traced-2")
    assert trace["command"].links == ()


def test_a_command_without_a_seat_has_one_trace_too(http: httpx.Client, spans: InMemorySpanExporter) -> None:
    game = begun(http)[0].game  # it was created, joined by two, and started

    def of_the_server() -> dict[object, set[str]]:
        """The names of the spans of each of these commands."""
        names: dict[object, set[str]] = {}
        for span in spans.get_finished_spans():
            attributes = span.attributes or {}
            id_ = str(attributes.get("ledgerline.command"))
            if attributes.get("ledgerline.game") == game and id_.startswith(LOGGED_ID_PREFIX):
                names.setdefault(id_, set()).add(span.name)
        return names

    deadline_s = time.monotonic() + 30
    while not (whole := [*of_the_server().values()] == [WAY] * 4) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert whole, of_the_server()


def test_the_same_id_in_another_game_or_seat_is_another_trace() -> None:
    ids = {span_ids(game, seat, "c1") for game in ("one", "two") for seat in (0, 1, None)}
    assert len({each.trace for each in ids}) == 6


def test_tracing_is_off_where_no_endpoint_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_traces, "SPANS", [])
    monkeypatch.delenv(command_traces.ENDPOINT_VARIABLE, raising=False)
    with command_traces.tracing("referee"):
        assert not command_traces.SPANS


def test_a_share_that_is_no_number_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(command_traces.SHARE_VARIABLE, "many")
    monkeypatch.setenv(command_traces.ENDPOINT_VARIABLE, "http://127.0.0.1:9")
    with (
        pytest.raises(InvalidInputError, match=r"OTEL_TRACES_SAMPLER_ARG.*from 0 to 1"),
        command_traces.tracing("bots"),
    ):
        pass


def test_a_share_of_commands_is_chosen_by_the_trace_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that every service records the same ones."""
    monkeypatch.setattr(command_traces, "SPANS", [])
    monkeypatch.setenv(command_traces.SHARE_VARIABLE, "0.5")
    chosen = []
    for service in ("gateway", "referee"):
        exporter = InMemorySpanExporter()
        with command_traces.tracing(service, partial(export_to, exporter)):
            for number in range(100):
                command_traces.record("part", "game", 0, f"c{number}", 0.001)
                command_traces.record_command("game", 0, f"c{number}", 0.001)
        kept = exporter.get_finished_spans()
        chosen.append([(each.attributes or {})["ledgerline.command"] for each in kept if each.name == "part"])
        assert len(kept) == 2 * len(chosen[-1])
    assert chosen[0] == chosen[1]
    assert 20 < len(chosen[0]) < 80


def test_spans_reach_a_collector_by_otlp(monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setattr(command_traces, "SPANS", [])
    with HTTPServer(("127.0.0.1", 0), Collector) as collector:
        Thread(target=collector.serve_forever, daemon=True).start()
        monkeypatch.setenv(command_traces.ENDPOINT_VARIABLE, f"http://127.0.0.1:{collector.server_port}")
        monkeypatch.delenv(command_traces.SHARE_VARIABLE, raising=False)
        with command_traces.tracing("referee"):  # its end exports what waits
            command_traces.record("decide", "some-game", 0, "some-command", 0.001)
        collector.shutdown()
    [(path, body)] = received
    assert path == "/v1/traces"
    for written in (b"ledgerline-referee", b"decide", b"some-command"):
        assert written in (gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)


def test_the_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    monkeypatch.setenv(command_traces.ENDPOINT_VARIABLE, "http://127.0.0.1:9")
    with (
        pytest.raises(
            InvalidInputError, match=r"OTEL_EXPORTER_OTLP_ENDPOINT.*pip install 'ledgerline\[tracing\]'"
        ),
        command_traces.tracing("referee"),
    ):
        pass
