"""`ledgerline serve` says how others in the network open it, and asks for nothing."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import httpx
import pytest
import segno

from services.cli.services import EVERY_ADDRESS, address_for_others, way_in
from tests.cli.test_serve_ends import serving


def code_of(address: str) -> str:
    drawn = StringIO()
    segno.make_qr(address, error="l").terminal(drawn, border=2, compact=True)
    return drawn.getvalue()


@pytest.mark.parametrize(
    ("others", "address"),
    [("192.0.2.7", "http://192.0.2.7:8000"), ("https://games.example", "https://games.example")],
)
def test_others_are_shown_their_address_and_its_code(others: str, address: str) -> None:
    said = way_in("http://127.0.0.1:8000", EVERY_ADDRESS, others)
    assert f"Others in your network open {address}\n" in said
    assert code_of(address) in said
    assert "--host 127.0.0.1" in said


@pytest.mark.parametrize(
    ("url", "host", "words"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1", "Only this machine can open it (--host 127.0.0.1)"),
        ("http://[::1]:8000", "::1", "Only this machine can open it (--host ::1)"),
        ("http://192.0.2.7:8000", "192.0.2.7", "It listens on 192.0.2.7 alone (--host)"),
    ],
)
def test_a_host_that_was_chosen_is_explained(url: str, host: str, words: str) -> None:
    assert words in way_in(url, host, "192.0.2.9")


def test_a_machine_without_a_network_says_so() -> None:
    assert "in no network now" in way_in("http://127.0.0.1:8000", EVERY_ADDRESS, "")


@pytest.mark.long
def test_a_server_that_was_told_nothing_is_opened_from_the_network(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        # given
        port = server.text().partition("127.0.0.1:")[2].partition(" ")[0]
        # when
        answer = httpx.get(f"http://{address_for_others() or '127.0.0.1'}:{port}/", trust_env=False)
        # then
        assert answer.status_code == 200
        assert "It listens on every address" in server.text() or "in no network" in server.text()
        server.end()
