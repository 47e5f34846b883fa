"""`ledgerline disputes`: an operator lists, reads and raises disputes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.errors import InvalidInputError
from services.cli.operating import disputes
from services.cli.output import GameNotFoundError
from tests.auditor.given import SIGNER
from tests.referee.running_referee import GAME
from tests.verification.disputes.conftest import WebServer
from tests.verification.disputes.games import end, play


@pytest.fixture
def run(web: WebServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command on the server's engine and archive. Returns its output; errors are raised."""
    monkeypatch.setenv("LEDGERLINE_REDIS_URL", web.server.url)
    monkeypatch.setenv("LEDGERLINE_ARCHIVE_URL", web.server.archive.url)
    monkeypatch.setenv("LEDGERLINE_PUBLIC_KEYS", SIGNER.public_key.hex())
    monkeypatch.setattr(
        "services.cli.options.set_up_logging", lambda *_, **__: None
    )  # its handlers would stay after the test

    def output(*words: str) -> str:
        capsys.readouterr()
        disputes.app(list(words), standalone_mode=False)
        return capsys.readouterr().out

    return output


def test_an_operator_sees_who_disputes_what_and_the_findings(web: WebServer, run: Any) -> None:
    assert "No disputes" in run()
    play(web.server)
    web.dispute(0, {"number": 7, "reason": "[red]Mine[/red]"}, "a")
    assert "waiting" in run()
    web.server.work()
    shown = run()
    for word in (f"{GAME}_0_", "seat 0", "so far", "nothing wrong", "[red]Mine[/red]"):
        assert word in shown
    [output] = json.loads(run("--json"))["disputes"]
    assert output["found"]["ok"]
    assert not output["final"]
    assert run("--open") == shown
    assert "No disputes" in run("--game", "another-game")
    end(web.server)
    web.server.work()
    assert "No disputes" in run("--open")
    assert output["dispute"] in run("--game", GAME)


def test_an_operator_gets_the_whole_audit_at_once_and_again_at_the_end(web: WebServer, run: Any) -> None:
    play(web.server)
    id_ = json.loads(run("raise", GAME, "--at", "7", "--reason", "A seat wrote to me.", "--json"))["dispute"]
    assert "waiting" in run("show", id_)
    web.server.work()
    output = json.loads(run("show", id_, "--json"))
    assert (output["state"], output["final"], output["answer"]["scope"]) == ("answered", False, "whole")
    assert "referee" in output["answer"]["move"]["seen"]
    shown = run("show", id_)
    for word in ("The operator disputes entry 7", "A seat wrote to me.", "Nothing wrong was found"):
        assert word in shown
    assert f"ledgerline audit {GAME} --at 7" in shown
    end(web.server)
    web.server.work()
    assert json.loads(run("show", id_, "--json"))["final"]


def test_a_game_of_the_archive_can_be_disputed(web: WebServer, run: Any) -> None:
    play(web.server)
    end(web.server)
    web.server.work()
    assert web.server.ledger.evict(GAME, 2, len(web.server.ledger.read_entries(GAME)))
    assert GAME in run("raise", GAME, "--at", "7", "--reason", "Late.")
    web.server.work()
    assert "nothing wrong" in run()


@pytest.mark.parametrize(
    ("words", "error", "named"),
    [
        (("show", "nonsense"), InvalidInputError, "dispute"),
        (("show", "game-one_0_000000000000"), InvalidInputError, "dispute"),
        (("--game", "A GAME"), InvalidInputError, "game"),
        (("raise", GAME, "--at", "99", "--reason", "x"), InvalidInputError, "--at"),
        (("raise", GAME, "--at", "1", "--reason", ""), InvalidInputError, "reason"),
        (("raise", GAME, "--at", "1", "--reason", "x" * 501), InvalidInputError, "reason"),
        (("raise", "A GAME", "--at", "1", "--reason", "x"), InvalidInputError, "game"),
        (("raise", "no-such-game", "--at", "1", "--reason", "x"), GameNotFoundError, "no-such-game"),
    ],
)
def test_an_error_names_what_is_wrong(
    web: WebServer, run: Any, words: tuple[str, ...], error: Any, named: str
) -> None:
    play(web.server)
    with pytest.raises(error, match=named):
        run(*words)
