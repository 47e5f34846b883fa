"""`ledgerline fork` as an operator meets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_command_line import document, ledgerline


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forks")


@pytest.fixture(scope="module")
def played(data: Path) -> Any:
    return document("play", "--seed", "forks", "--seats", "greedy,random", data=data)


def test_a_game_of_bots_starts_at_once_where_the_other_one_stood(played: Any, data: Path) -> None:
    told = document("fork", played["game"], "--at", "40", data=data)
    assert (told["of"], told["at"], told["afresh"], told["started"]) == (played["game"], 40, False, True)
    assert told["free"] == []
    there = document("replay", played["game"], "--to", "40", data=data)
    here = document("replay", told["game"], data=data)
    assert here["forked"] == {"of": played["game"], "at": 40}
    for name in ("cars", "cards", "routes"):
        assert [seat[name] for seat in here["seats"]] == [seat[name] for seat in there["seats"]]


def test_its_bots_play_on_where_the_house_is_open_and_an_audit_finds_nothing_wrong(
    played: Any, data: Path
) -> None:
    told = document("fork", played["game"], "--at", "100", data=data)
    document("play", "--seed", "others", "--seats", "greedy,greedy,random", data=data)
    standing = document("replay", told["game"], data=data)
    assert standing["entries"] > 2
    audited = ledgerline("audit", told["game"], data=data)
    assert audited.returncode == 0, audited.stdout + audited.stderr


def test_it_is_told_in_words_too(played: Any, data: Path) -> None:
    said = ledgerline("fork", played["game"], "--at", "7", data=data).stdout
    assert f"goes on from game {played['game']} after entry 7; hidden cards stay where they were" in said
    assert "It has started" in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--at", "1"), "--at: game {game} hadn't started at entry 1"),
        (("--at", "100000"), "--at: game {game} has {entries} entries"),
        (("--at", "{entries}"), "--at: game {game} was over at entry {entries}; name one before"),
        (("--at", "7", "--as", "5"), "--as: '5' is neither public nor a seat from 0 to 1"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_option(
    played: Any, data: Path, words: tuple[str, ...], why: str
) -> None:
    done = ledgerline("fork", played["game"], *(word.format(**played) for word in words), data=data)
    assert (done.returncode, done.stderr.strip()) == (2, f"ledgerline: {why.format(**played)}")


def test_a_game_that_there_is_not_is_said(played: Any, data: Path) -> None:
    done = ledgerline("fork", "nowhere", "--at", "7", data=data)
    assert (done.returncode, done.stderr.strip()) == (
        2,
        "ledgerline: there is no game nowhere; `ledgerline games` lists them",
    )
