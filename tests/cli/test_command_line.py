"""The `ledgerline` command as people use it: whole games, and the same games again."""

from __future__ import annotations

import json
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from services.ledger.engine.connection import connect
from services.ledger.engine.embedded_engine import is_vacant, running_engine
from tests.cli.command_line import (
    OWN_PATH,
    ROOT,
    CommandResult,
    environment,
    read_json,
    read_json_of_process,
    run_in_process,
    start_process,
)
from tests.long_runs import long_after

SHORT_GAME = ("--seed", "friday", "--option", "cars=12")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the first command makes."""
    return tmp_path_factory.mktemp("a folder with blanks") / "data"


@pytest.fixture(scope="module")
def played(data: Path) -> Any:
    """The summary of a short game of four bots, played in a process of its own."""
    return read_json_of_process("play", *SHORT_GAME, data=data)


def test_play_ends_with_every_seat_placed(played: Any) -> None:
    assert (played["ruleset"], played["board"], played["ended"]) == ("usa", "usa", "last turns")
    assert [seat["seat"] for seat in played["seats"]] == [0, 1, 2, 3]
    assert [seat["policy"] for seat in played["seats"]] == ["greedy", "greedy", "random", "random"]
    assert min(seat["place"] for seat in played["seats"]) == 1
    for seat in played["seats"]:
        assert seat["total"] == seat["routes"] + seat["tickets"] + seat["bonus"]


def test_replay_in_a_new_process_shows_the_same_game(played: Any, data: Path) -> None:
    replayed = read_json_of_process("replay", played["game"], data=data)
    turns = replayed.pop("turns")
    assert replayed == played
    assert [turn["number"] for turn in turns] == list(range(1, played["entries"] + 1))
    assert sum(len(turn["events"]) for turn in turns) == played["events"]


def test_replay_stops_after_the_entry_that_is_named(played: Any, data: Path) -> None:
    replayed = read_json("replay", played["game"], "--to", "30", data=data)
    assert (len(replayed["turns"]), replayed["state"], replayed["ended"]) == (30, "playing", None)


def test_replay_prints_a_position_that_ask_takes_and_answers_with(played: Any, data: Path) -> None:
    def replay_position(*words: str) -> CommandResult:
        return run_in_process("replay", played["game"], "--position", *words, data=data)

    for words in (("--to", "60"), ()):  # in the middle; and the last, when the game was over
        question = json.loads(replay_position(*words).stdout)
        answer = json.loads(run_in_process("ask", "-", stdin=json.dumps({**question, "table": True})).stdout)
        assert answer["table"] == question["position"]
        assert bool(answer["legal"])
    for words, why in (
        (("--to", "2"), "before the first turn"),
        (("--to", "9999"), "entries"),
        (("--as", "1"), "--as"),
    ):
        refused = replay_position(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert why in refused.stderr


def test_replay_as_a_seat_shows_its_cards_and_no_others(played: Any, data: Path) -> None:
    log = read_json("replay", played["game"], data=data)["turns"]
    for viewer, seat in (("public", None), ("2", 2)):
        view = read_json("replay", played["game"], "--as", viewer, data=data)["turns"]
        shown = [e for turn in view for e in turn["events"] if e["type"] == "card_drawn"]
        drawn = [e for turn in log for e in turn["events"] if e["type"] == "card_drawn"]
        assert shown == [e if e["seat"] == seat else {**e, "card": None} for e in drawn]
        assert not any(e.get("seed") for turn in view[:-1] for e in turn["events"])
        assert [e["type"] for e in view[-1]["events"] if e.get("seed")] == ["seed_revealed"]  # to all


def test_the_same_seed_gives_the_same_log_but_for_times_and_ids(played: Any, data: Path) -> None:
    other = read_json("play", *SHORT_GAME, data=data)
    assert other["game"] != played["game"]

    def comparable_log(game: str) -> list[Any]:
        turns = read_json("replay", game, data=data)["turns"]
        for event in (event for turn in turns for event in turn["events"]):
            for field in ("game", "created", "opened", "root"):  # a root is made of the id too
                event.pop(field, None)
        return [(turn["seat"], turn["command"], turn["events"]) for turn in turns]

    assert comparable_log(other["game"]) == comparable_log(played["game"])


def test_play_may_have_more_games_than_an_address_of_strangers(tmp_path: Path) -> None:
    words = ("play", "--games", "3", "--option", "cars=12", "--json")
    result = run_in_process(*words, data=tmp_path, LEDGERLINE_OPEN_GAMES="1")
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["games"]) == 3


def test_games_lists_what_was_played(played: Any, data: Path) -> None:
    (listed,) = (game for game in read_json("games", data=data)["games"] if game["game"] == played["game"])
    assert played.items() <= listed.items()
    assert listed["winners"] == [seat["seat"] for seat in played["seats"] if seat["place"] == 1]
    assert datetime.now(UTC) - datetime.fromisoformat(listed["begun"]) < timedelta(hours=2)
    winner = played["seats"][listed["winners"][0]]["name"]
    row = next(
        line for line in run_in_process("games", data=data).stdout.splitlines() if played["game"] in line
    )
    assert (listed["begun"][:10] in row, winner in row) == (True, True)


def test_plain_lines_end_with_the_final_table_and_the_games_id(data: Path) -> None:
    result = run_in_process("play", "--seats", "random,greedy", "--option", "cars=12", data=data)
    assert result.returncode == 0, result.stderr
    assert "claims" in result.stdout
    for heading in ("place", "routes", "made", "missed", "longest", "total"):
        assert heading in result.stdout
    hint = result.stdout.rsplit("See it again: ", 1)[1]
    replayed = subprocess.run(
        hint,
        shell=True,
        cwd=ROOT,
        env=environment(PATH=OWN_PATH),
        capture_output=True,
        text=True,
        check=True,
    )  # as pasted
    assert replayed.stdout.splitlines()[-6:] == result.stdout.splitlines()[-7:-1]
    assert "is over" in replayed.stdout


def test_games_side_by_side_all_end(data: Path) -> None:
    words = ("play", "--games", "3", "--seats", "random,random", "--seed", "x", "--option", "cars=12")
    result = read_json(*words, data=data)
    assert len({game["game"] for game in result["games"]}) == 3
    assert all(game["ended"] for game in result["games"])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("play", "--rules", "chess"), "chess"),
        (("play", "--seats", "greedy,clever"), "clever"),
        (("play", "--board", "atlantis"), "atlantis"),
        (("play", "--games", "0"), "--games"),
        (("replay", "nosuchgame"), "nosuchgame"),
        (("replay", "No Such Game"), "game"),
        (("shuffle",), "shuffle"),
        (("games", "--data", "no-such-folder"), "no-such-folder"),
    ],
)
def test_bad_input_gets_a_clear_error_and_exit_code_2(
    words: tuple[str, ...], named: str, played: Any, data: Path
) -> None:
    result = run_in_process(*words, data=data)
    assert result.returncode == 2
    assert named in result.stderr
    assert "Traceback" not in result.stderr


def test_a_refusal_of_the_rules_gets_a_clear_error_and_exit_code_2(data: Path) -> None:
    result = run_in_process("play", "--seats", "greedy", data=data)
    assert result.returncode == 2
    assert "2 to 5" in result.stderr
    assert "Traceback" not in result.stderr


def test_replay_beyond_the_end_or_as_a_stranger_is_refused(played: Any, data: Path) -> None:
    for words, named in ((("--to", "9999"), "--to"), (("--as", "7"), "--as"), (("--as", "x"), "--as")):
        result = run_in_process("replay", played["game"], *words, data=data)
        assert (result.returncode, named in result.stderr) == (2, True), result.stderr


def test_help_describes_each_command() -> None:
    for words, named in (
        ((), "replay"),
        (("play",), "--seats"),
        (("replay",), "--as"),
        (("serve",), "--port"),
    ):
        result = run_in_process(*words, "--help")
        assert result.returncode == 0
        assert named in result.stdout


@pytest.mark.parametrize("address", ["redis://127.0.0.1:abc/0", "redis://127.0.0.1/0?foo=1", "http://x"])
def test_a_malformed_engine_address_is_one_clear_line(address: str, data: Path) -> None:
    result = run_in_process("games", data=data, LEDGERLINE_REDIS_URL=address)
    assert (result.returncode, "LEDGERLINE_REDIS_URL" in result.stderr) == (2, True), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.long
@pytest.mark.parametrize("number", long_after(1, [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]))
def test_play_that_is_stopped_by_a_signal_leaves_no_engine_behind(
    number: signal.Signals, tmp_path: Path
) -> None:
    slow = ("--rules", "europe", "--seats", ",".join(["planner"] * 5))
    with start_process("play", *slow, data=tmp_path) as playing:
        assert playing.stdout is not None
        assert playing.stdout.readline()  # what happens in a game: it plays
        assert not is_vacant(tmp_path)
        playing.send_signal(number)
        _, err = playing.communicate()
        assert playing.returncode not in (0, 2)
        assert b"Traceback" not in err, err
        assert is_vacant(tmp_path)


def test_a_damaged_game_is_listed_as_such_and_hides_no_other(tmp_path: Path) -> None:
    words = ("play", "--seats", "random,random", "--games", "2", "--option", "cars=8")
    sound, damaged = read_json(*words, data=tmp_path)["games"]
    with running_engine(tmp_path) as url:
        with connect(url) as client:
            (log,) = client.keys(f"*:g:{damaged['game']}:log")
            client.xadd(log, {"s": b"garbage"})
        listed = {game["game"]: game["state"] for game in read_json("games", data=tmp_path)["games"]}
        assert listed == {sound["game"]: "over", damaged["game"]: "damaged"}
        assert "damaged" in run_in_process("games", data=tmp_path).stdout


def test_what_the_data_folder_holds_is_its_owners_alone(played: Any, data: Path) -> None:
    for path in (data, *data.rglob("*")):
        if path.name in {"engine.json", "valkey.conf", "token.key"} or path.is_dir() or path.suffix == ".aof":
            assert path.stat().st_mode & 0o077 == 0, path


def test_an_empty_key_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token.key").touch()
    result = run_in_process("play", data=tmp_path)
    assert (result.returncode, "token.key" in result.stderr, "Traceback" in result.stderr) == (2, True, False)
