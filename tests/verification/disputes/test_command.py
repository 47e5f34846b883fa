"""`ledgerline disputes`: what an operator sees of them, and raises."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.errors import InvalidInputError
from services.cli import disputes
from services.cli.exit import GameNotFoundError
from tests.referee.running_referee import GAME
from tests.verification.disputes.conftest import Office
from tests.verification.disputes.games import end, play


@pytest.fixture
def run(office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command on the office's engine and archive; what it prints. What goes wrong is raised."""
    monkeypatch.setenv("LEDGERLINE_REDIS_URL", office.at.url)
    monkeypatch.setenv("LEDGERLINE_ARCHIVE_URL", office.at.archive.url)
    monkeypatch.setattr(
        "services.cli.options.set_up_logging", lambda *_, **__: None
    )  # they would outlive the test

    def output(*words: str) -> str:
        capsys.readouterr()
        disputes.app(list(words), standalone_mode=False)
        return capsys.readouterr().out

    return output


def test_an_operator_sees_who_doubts_what_and_what_was_found(office: Office, run: Any) -> None:
    assert "No disputes" in run()
    play(office.at)
    office.dispute(0, {"number": 7, "reason": "[red]Mine[/red]"}, "a")
    assert "waiting" in run()
    office.at.work()
    shown = run()
    for word in (f"{GAME}_0_", "seat 0", "so far", "nothing wrong", "[red]Mine[/red]"):
        assert word in shown
    [output] = json.loads(run("--json"))["disputes"]
    assert output["found"]["ok"]
    assert not output["final"]
    assert run("--open") == shown
    assert "No disputes" in run("--game", "another-game")
    end(office.at)
    office.at.work()
    assert "No disputes" in run("--open")
    assert output["dispute"] in run("--game", GAME)


def test_an_operator_gets_the_whole_audit_at_once_and_again_at_the_end(office: Office, run: Any) -> None:
    play(office.at)
    id_ = json.loads(run("raise", GAME, "--at", "7", "--reason", "A seat wrote to me.", "--json"))["dispute"]
    assert "waiting" in run("show", id_)
    office.at.work()
    output = json.loads(run("show", id_, "--json"))
    assert (output["state"], output["final"], output["answer"]["scope"]) == ("answered", False, "whole")
    assert "referee" in output["answer"]["move"]["seen"]
    shown = run("show", id_)
    for word in ("The operator disputes entry 7", "A seat wrote to me.", "Nothing wrong was found"):
        assert word in shown
    assert f"ledgerline audit {GAME} --at 7" in shown
    end(office.at)
    office.at.work()
    assert json.loads(run("show", id_, "--json"))["final"]


def test_a_game_of_the_archive_can_be_disputed(office: Office, run: Any) -> None:
    play(office.at)
    end(office.at)
    office.at.work()
    assert office.at.ledger.evict(GAME, 2, len(office.at.ledger.read_entries(GAME)))
    assert GAME in run("raise", GAME, "--at", "7", "--reason", "Late.")
    office.at.work()
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
def test_what_is_wrong_is_named(
    office: Office, run: Any, words: tuple[str, ...], error: Any, named: str
) -> None:
    play(office.at)
    with pytest.raises(error, match=named):
        run(*words)
