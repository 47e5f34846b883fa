"""`ledgerline suggest`: of a finished game for any seat, of one that goes on for the seat whose token is shown."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from services.bootstrap.embedded import run_embedded_server
from services.runtime.settings import read_settings
from tests.cli.command_line import run_in_process
from tests.gateway.clients import begun, over

SHORT = {"last_cars": 40}  # so that games that are played out end soon


@pytest.mark.long
def test_a_finished_and_a_running_game(tmp_path: Path) -> None:
    # given
    with (
        run_embedded_server(tmp_path, read_settings(port=0)) as running,
        httpx.Client(base_url=running.url, timeout=120, trust_env=False) as http,
    ):
        finished, last = over(http)
        ada, bo = begun(http, options=SHORT)
        closed, _ = begun(http, suggestions=False)

    # when
    def suggest(*words: object) -> tuple[int, str]:
        done = run_in_process("suggest", *map(str, words), data=tmp_path)
        return done.returncode, done.stdout or done.stderr

    # then
    found = [
        json.loads(suggest(finished, "--seat", seat, "--at", last - 1, "--json")[1]) for seat in ("A", 1)
    ]
    assert sorted(bool(each["commands"]) for each in found) == [False, True]
    assert "Nothing is to be chosen by seat A" in suggest(finished, "--seat", "a")[1]
    code, shown = suggest(ada.game, "--seat", 0, "--token", ada.token)
    assert code == 0 and "points" in shown and "keep" in shown
    for words in (
        (ada.game, "--seat", 0),
        (ada.game, "--seat", 0, "--token", bo.token),
        (ada.game, "--seat", 0, "--token", "ll1.x"),
    ):
        code, shown = suggest(*words)
        assert code == 2 and "--token" in shown
    code, shown = suggest(closed.game, "--seat", 0, "--token", closed.token)
    assert code == 1 and "without suggestions" in shown
    code, shown = suggest(finished, "--seat", 5)
    assert code == 2 and "--seat" in shown
    code, shown = suggest(finished, "--seat", 0, "--at", last + 1)
    assert code == 2 and "--at" in shown
    code, shown = suggest("0" * 12, "--seat", 0)
    assert code == 2 and "there is no game" in shown


@pytest.mark.parametrize("seat", [[], ["--seat", "-1"], ["--seat", "x"]])
def test_a_seat_must_be_named(seat: list[str]) -> None:
    assert run_in_process("suggest", "0" * 12, *seat).returncode == 2
