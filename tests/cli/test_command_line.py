"""The `ledgerline` command as people meet it: whole games, and the same games again."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from services.ledger.connection import connect
from services.ledger.embedded_engine import is_vacant, running_engine

ROOT = Path(__file__).parents[2]


def surroundings(data: Path | None = None, **settings: str) -> dict[str, str]:
    given = {k: v for k, v in os.environ.items() if not k.startswith("LEDGERLINE_")}
    return {**given, **settings, **({"LEDGERLINE_DATA": str(data)} if data else {})}


def ledgerline(*words: str, data: Path | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
    given = surroundings(data, **settings)
    return subprocess.run(
        [sys.executable, "-m", "services.cli", *words],
        cwd=ROOT, env=given, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def document(*words: str, data: Path) -> Any:
    done = ledgerline(*words, "--json", data=data)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("a folder with blanks")


@pytest.fixture(scope="module")
def played(data: Path) -> Any:
    """A game of four bots, played in a process of its own."""
    return document("play", "--seed", "friday", data=data)


def test_play_ends_with_every_seat_placed(played: Any) -> None:
    assert (played["ruleset"], played["board"], played["ended"]) == ("usa", "usa", "last turns")
    assert [seat["seat"] for seat in played["seats"]] == [0, 1, 2, 3]
    assert [seat["policy"] for seat in played["seats"]] == ["greedy", "greedy", "random", "random"]
    assert min(seat["place"] for seat in played["seats"]) == 1
    for seat in played["seats"]:
        assert seat["total"] == seat["routes"] + seat["tickets"] + seat["bonus"]


def test_replay_in_a_new_process_shows_the_same_game(played: Any, data: Path) -> None:
    again = document("replay", played["game"], data=data)
    turns = again.pop("turns")
    assert again == played
    assert [turn["number"] for turn in turns] == list(range(1, played["entries"] + 1))
    assert sum(len(turn["events"]) for turn in turns) == played["events"]


def test_replay_stops_where_it_is_told(played: Any, data: Path) -> None:
    part = document("replay", played["game"], "--to", "30", data=data)
    assert (len(part["turns"]), part["state"], part["ended"]) == (30, "playing", None)


def test_replay_as_a_seat_shows_its_cards_and_no_others(played: Any, data: Path) -> None:
    whole = document("replay", played["game"], data=data)["turns"]
    for viewer, seat in (("public", None), ("2", 2)):
        seen = document("replay", played["game"], "--as", viewer, data=data)["turns"]
        drawn = [e for turn in seen for e in turn["events"] if e["type"] == "card_drawn"]
        known = [e for turn in whole for e in turn["events"] if e["type"] == "card_drawn"]
        assert drawn == [e if e["seat"] == seat else {**e, "card": None} for e in known]
        assert not any(e.get("seed") for turn in seen[:-1] for e in turn["events"])
        assert [e["type"] for e in seen[-1]["events"] if e.get("seed")] == ["seed_revealed"]  # to all


def test_the_same_seed_gives_the_same_log_but_for_times_and_ids(played: Any, data: Path) -> None:
    other = document("play", "--seed", "friday", data=data)
    assert other["game"] != played["game"]

    def story(game: str) -> list[Any]:
        turns = document("replay", game, data=data)["turns"]
        for event in (event for turn in turns for event in turn["events"]):
            for differs in ("game", "created", "opened", "root"):  # a root is made of the id too
                event.pop(differs, None)
        return [(turn["seat"], turn["command"], turn["events"]) for turn in turns]

    assert story(other["game"]) == story(played["game"])


def test_games_lists_what_was_played(played: Any, data: Path) -> None:
    listed = document("games", data=data)["games"]
    assert played in listed


def test_plain_lines_end_with_the_final_table_and_the_games_id(data: Path) -> None:
    done = ledgerline("play", "--seats", "random,greedy", data=data)
    assert done.returncode == 0, done.stderr
    assert "claims" in done.stdout
    for heading in ("place", "routes", "made", "missed", "longest", "total"):
        assert heading in done.stdout
    again = shlex.split(done.stdout.rsplit("See it again: ledgerline ", 1)[1])
    replayed = ledgerline(*again)  # the very words that play ended with
    assert replayed.stdout.splitlines()[-6:] == done.stdout.splitlines()[-7:-1]
    assert "is over" in replayed.stdout


def test_games_side_by_side_all_end(data: Path) -> None:
    together = document("play", "--games", "3", "--seats", "random,random", "--seed", "x", data=data)
    assert len({told["game"] for told in together["games"]}) == 3
    assert all(told["ended"] for told in together["games"])


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("play", "--rules", "chess"), "chess"),
        (("play", "--seats", "greedy,clever"), "clever"),
        (("play", "--seats", "greedy"), "2 to 5"),
        (("play", "--board", "atlantis"), "atlantis"),
        (("play", "--games", "0"), "--games"),
        (("replay", "nosuchgame"), "nosuchgame"),
        (("replay", "No Such Game"), "game"),
        (("shuffle",), "shuffle"),
        (("games", "--data", "no-such-folder"), "no-such-folder"),
    ],
)
def test_bad_input_gets_a_clear_error_and_exit_code_2(words: tuple[str, ...], names: str, data: Path) -> None:
    done = ledgerline(*words, data=data)
    assert done.returncode == 2
    assert names in done.stderr
    assert "Traceback" not in done.stderr


def test_replay_beyond_the_end_or_as_a_stranger_is_refused(played: Any, data: Path) -> None:
    for words, names in ((("--to", "9999"), "--to"), (("--as", "7"), "--as"), (("--as", "x"), "--as")):
        done = ledgerline("replay", played["game"], *words, data=data)
        assert (done.returncode, names in done.stderr) == (2, True), done.stderr


def test_help_tells_what_each_command_does() -> None:
    for words, told in (
        ((), "replay"),
        (("play",), "--seats"),
        (("replay",), "--as"),
        (("serve",), "--port"),
    ):
        done = ledgerline(*words, "--help")
        assert done.returncode == 0
        assert told in done.stdout


@pytest.mark.parametrize("address", ["redis://127.0.0.1:abc/0", "redis://127.0.0.1/0?foo=1", "http://x"])
def test_an_address_that_is_none_is_one_clear_line(address: str, data: Path) -> None:
    done = ledgerline("games", data=data, LEDGERLINE_REDIS_URL=address)
    assert (done.returncode, "LEDGERLINE_REDIS_URL" in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_play_that_is_told_to_stop_leaves_no_engine_behind(number: signal.Signals, tmp_path: Path) -> None:
    playing = subprocess.Popen(
        [sys.executable, "-m", "services.cli", "play", "--games", "30"],
        cwd=ROOT, env=surroundings(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    until = time.monotonic() + 30
    while is_vacant(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1)
    playing.send_signal(number)
    told = playing.communicate(timeout=30)[1]
    assert playing.returncode not in (0, 2)
    assert b"Traceback" not in told, told
    assert is_vacant(tmp_path)


def test_a_damaged_game_is_listed_as_such_and_hides_no_other(tmp_path: Path) -> None:
    played = document("play", "--seats", "random,random", data=tmp_path)
    broken = document("play", "--seats", "random,random", data=tmp_path)
    with running_engine(tmp_path) as url, connect(url) as client:
        (log,) = client.keys(f"*:g:{broken['game']}:log")
        client.xadd(log, {"e": b"garbage"})
    listed = {told["game"]: told["state"] for told in document("games", data=tmp_path)["games"]}
    assert listed == {played["game"]: "over", broken["game"]: "damaged"}
    assert "damaged" in ledgerline("games", data=tmp_path).stdout


def test_what_lies_in_the_data_folder_is_its_owners_alone(played: Any, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    document("play", "--seats", "random,random", data=folder)
    for path in (folder, *folder.rglob("*")):
        if path.name in {"engine.json", "valkey.conf", "token.key"} or path.is_dir() or path.suffix == ".aof":
            assert path.stat().st_mode & 0o077 == 0, path


def test_a_key_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token.key").touch()
    done = ledgerline("play", data=tmp_path)
    assert (done.returncode, "token.key" in done.stderr, "Traceback" in done.stderr) == (2, True, False)
