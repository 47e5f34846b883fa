"""`ledgerline person`: who is found, what is asked before a name is erased, and what can't be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.auditor.webhook_receiver import SECRET
from tests.cli.command_line import CommandResult, run_in_process
from tests.gateway.clients import CreatedGame, bearer, in_turn
from tests.security.conftest import WholeServer


def person(whole: WholeServer, *words: str) -> CommandResult:
    return run_in_process("person", *words, data=whole.data)


def exported(whole: WholeServer, *who: str) -> dict[str, Any]:
    """The seats that are found, by GAME:SEAT."""
    result = person(whole, "export", *who)
    assert result.returncode == 0, result.stderr
    return {f"{seat['game']}:{seat['seat']}": seat for seat in json.loads(result.stdout)["seats"]}


def named(whole: WholeServer, *names: str) -> str:
    """A game at which these sit; its id."""
    created = CreatedGame(whole.http, *["human"] * len(names))
    for name in names:
        created.join(name)
    return str(created.game)


def test_everybody_of_a_name_is_found_in_every_game(whole: WholeServer) -> None:
    first, second = named(whole, "Cordelia", "Bo"), named(whole, "Bo", "Cordelia")
    assert exported(whole, "Cordelia").keys() == {f"{first}:0", f"{second}:1"}
    assert exported(whole, "cordelia") == {}
    assert exported(whole, f"{first}:1").keys() == {f"{first}:1"}
    assert exported(whole, f"{first}:1", "Cordelia").keys() == {f"{first}:0", f"{first}:1", f"{second}:1"}


def test_an_export_has_what_is_kept_of_a_person_and_nothing_of_others(
    whole: WholeServer, tmp_path: Path
) -> None:
    ada, _ = in_turn(whole.http)
    webhook = {"url": "https://ada.example.org/", "secret": SECRET}
    whole.http.put(f"/v1/games/{ada.game}/webhook", json=webhook, headers=bearer(ada.token))
    [seat] = exported(whole, f"{ada.game}:0").values()
    assert seat["notified"] == [webhook["url"]]
    assert SECRET not in json.dumps(seat)
    assert [salted["name"] for salted in seat["names"]] == ["Ada"]
    assert seat["taken"]["number"] == 2
    assert [sent["command"]["type"] for sent in seat["commands"]] == ["keep_tickets"]
    file = tmp_path / "person.json"
    assert person(whole, "export", f"{ada.game}:0", "--file", str(file)).returncode == 0
    assert json.loads(file.read_text())["seats"] == [seat]


def test_nothing_is_erased_unasked(whole: WholeServer) -> None:
    game = named(whole, "Desdemona", "Bo")
    refused = person(whole, "erase", "Desdemona")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert exported(whole, "Desdemona").keys() == {f"{game}:0"}
    nobody = person(whole, "erase", "Nobody At All", "--yes")
    assert nobody.returncode == 0
    assert "nobody is found" in nobody.stderr


def test_a_seats_name_is_erased_there_and_in_forks_and_in_no_other_game(whole: WholeServer) -> None:
    ada, _ = in_turn(whole.http)
    elsewhere = named(whole, "Ada", "Bo")
    forked = whole.http.post(f"/v1/games/{ada.game}/forks", json={"at": 5}, headers=bearer(ada.token)).json()
    webhook, headers = f"/v1/games/{ada.game}/webhook", bearer(ada.token)
    whole.http.put(webhook, json={"url": "https://ada.example.org/"}, headers=headers)
    assert person(whole, "erase", f"{ada.game}:0", "--yes").returncode == 0
    assert whole.http.get(webhook, headers=headers).json()["url"] is None
    for game in (ada.game, forked["game"]):
        assert "Ada" not in whole.http.get(f"/v1/games/{game}/view").text
        assert "a player" in whole.http.get(f"/v1/games/{game}/view").text
    assert "Bo" in whole.http.get(f"/v1/games/{ada.game}/view").text
    assert "Ada" in whole.http.get(f"/v1/games/{elsewhere}/view").text


def test_a_word_that_looks_like_a_seat_can_be_a_name(whole: WholeServer) -> None:
    game = named(whole, "abcdef:1", "Bo")
    assert exported(whole, "abcdef:1") == {}
    assert exported(whole, "abcdef:1", "--name").keys() == {f"{game}:0"}
    assert person(whole, "erase", "abcdef:1", "--name", "--yes").returncode == 0
    assert exported(whole, "abcdef:1", "--name") == {}


@pytest.mark.parametrize("words", [("export", "--help"), ("erase", "--help"), ("--help",)], ids=" ".join)
def test_help_says_how_a_person_is_named(whole: WholeServer, words: tuple[str, ...]) -> None:
    result = person(whole, *words)
    assert result.returncode == 0
    assert ("GAME:SEAT" in result.stdout) == (len(words) == 2)
