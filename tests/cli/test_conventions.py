"""The command line is as people expect it: short names, one form of JSON, quiet, exit codes, nothing secret, no overwriting."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest

from services.cli.output import EXIT_CODES
from tests.cli.command_line import COMMAND, environment, read_json, run_in_process
from tests.structure import ROOT

GAMES = ("play", "--games", "3", "--seats", "greedy,random", "--option", "cars=12", "--seed", "monday")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conventions") / "data"


@pytest.fixture(scope="module")
def games(data: Path) -> list[str]:
    """Three short games, the latest first."""
    assert run_in_process(*GAMES, data=data).returncode == 0
    return [game["game"] for game in read_json("games", data=data)["games"]]


@pytest.fixture(scope="module")
def played(games: list[str], data: Path) -> str:
    """A game that is played: a fork, which no server goes on with."""
    return str(read_json("fork", games[0], "--at", "20", data=data)["game"])


def test_several_games_end_in_one_summary_where_there_is_no_terminal(data: Path, games: list[str]) -> None:
    printed = run_in_process(*GAMES, data=data).stdout
    [greedy] = re.findall(r"│ greedy +│ 3 +│ ([\d.]+) +│ -?[\d.]+ +│", printed)
    [random] = re.findall(r"│ random +│ 3 +│ ([\d.]+) +│ -?[\d.]+ +│", printed)
    assert float(greedy) + float(random) == 3
    assert re.search(r"^3 games in [\d.]+ s, [\d.]+ a second\.$", printed, re.MULTILINE)
    assert "draws" not in printed


def test_a_game_is_named_by_its_beginning_or_as_the_last(data: Path, games: list[str]) -> None:
    latest = read_json("games", data=data)["games"][0]["game"]
    assert read_json("replay", "last", data=data)["game"] == latest
    for length in (1, 8):
        named = games[0][:length]
        result = run_in_process("replay", named, "--json", data=data)
        alike = [
            each["game"] for each in read_json("games", data=data)["games"] if each["game"].startswith(named)
        ]
        if len(alike) == 1:
            assert json.loads(result.stdout)["game"] == games[0]
        else:
            assert (result.returncode, f"is the beginning of {len(alike)} games" in result.stderr) == (
                2,
                True,
            )


def test_a_seat_is_named_by_its_player(data: Path, games: list[str]) -> None:
    by_letter, by_name = (read_json("replay", games[0], "--as", who, data=data) for who in ("A", "Greedy 1"))
    assert by_letter == by_name
    refused = run_in_process("replay", games[0], "--as", "gredy 1", data=data)
    assert (refused.returncode, "did you mean greedy 1?" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("play", "--rules", "euorpe"), "europe"),
        (("play", "--board", "swizerland"), "switzerland"),
        (("play", "--seats", "gready,random"), "greedy"),
        (("play", "--option", "clock_sm=5"), "clock_ms"),
        (("fuzz", "trickz"), "tricks"),
        (("replya", "last"), "replay"),
        (("play", "--sead", "x"), "--seed"),
    ],
)
def test_what_is_mistyped_is_guessed(words: tuple[str, ...], meant: str, data: Path) -> None:
    result = run_in_process(*words, data=data)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.search(rf"(?:[Dd]id you mean|Possible options:).*{meant}", result.stderr), result.stderr


def test_a_mistyped_game_is_guessed(data: Path, games: list[str]) -> None:
    near = games[0][:-1] + ("0" if games[0][-1] != "0" else "1")
    assert f"did you mean {games[0]}?" in run_in_process("replay", near, data=data).stderr


def test_what_seats_hide_isnt_printed_while_a_game_is_played(data: Path, played: str) -> None:
    [listed] = [game for game in read_json("games", data=data)["games"] if game["game"] == played]
    assert listed["state"] == "playing"
    assert [seat["made"] + seat["missed"] for seat in listed["seats"]] == [[], []]
    shown, opened = (
        read_json("replay", played, *words, data=data)["turns"] for words in ((), ("--as", "all"))
    )
    assert ('"' in tickets_of(shown), '"' in tickets_of(opened)) == (False, True)
    for words, way in (
        (("replay", played, "--position"), "--as all"),
        (("audit", played, "--at", "2"), "--open"),
    ):
        refused = run_in_process(*words, data=data)
        assert (refused.returncode, refused.stdout, way in refused.stderr) == (2, "", True), refused.stderr
        assert run_in_process(*words, *way.split(), data=data).returncode == 0


def tickets_of(turns: list[Any]) -> str:
    """The ids of all tickets in these entries; null for each that isn't shown."""
    found = re.findall(r'"tickets": \[([^\]]*)\]', json.dumps(turns))
    assert "null" in "".join(found) or '"' in "".join(found)
    return " ".join(found)


def test_an_export_writes_over_nothing_unless_it_is_forced(
    data: Path, games: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "game.ledgerline"
    file.write_text("mine")
    refused = run_in_process("export", games[0], str(file), data=data)
    assert (refused.returncode, file.read_text()) == (2, "mine")
    assert "--force writes over it" in refused.stderr
    written = read_json("export", games[0], str(file), "--force", data=data)
    assert (written["game"], written["bytes"]) == (games[0], file.stat().st_size)


def test_quiet_prints_errors_alone_and_json_one_object_of_every_command(data: Path, games: list[str]) -> None:
    assert run_in_process("games", "--quiet", data=data) == (0, "", "")
    assert "no-such" in run_in_process("replay", "no-such", "-q", data=data).stderr
    [key] = read_json("public-key", data=data)["lines"]
    assert run_in_process("public-key", data=data).stdout == f"{key}\n"
    lines = run_in_process("watch", games[0], "--json", data=data).stdout.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [*range(1, len(lines) + 1)]
    missing = run_in_process("public-key", "--json", "--data", "/dev/null/none")
    assert (missing.returncode == 0, missing.stdout) == (False, "")


def test_every_exit_code_is_in_the_help_and_on_the_page() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    help_text = " ".join(re.sub("[│╭╮╰╯─]", " ", run_in_process("--help").stdout).split())
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in page
        assert f"{code}: {meaning[:1].lower()}{meaning[1:-1]}" in help_text


def test_a_finding_is_exit_code_1_and_nothing_else_is_wrong_with_the_command(
    data: Path, games: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "game.ledgerline"
    assert run_in_process("export", games[0], str(file), data=data).returncode == 0
    found = run_in_process("verify", str(file), "--head", f"1:{'00' * 32}")
    assert (found.returncode, "Traceback" in found.stderr) == (1, False)


def test_the_shell_completes_options() -> None:
    def completed(words: str) -> list[str]:
        asked = {
            "_LEDGERLINE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        program = Path(COMMAND[0]).parent / "ledgerline"
        done = subprocess.run(
            [program], cwd=ROOT, env=environment(None, **asked), capture_output=True, text=True, check=True
        )
        return str(done.stdout).split()

    assert completed("ledgerline play --bo") == ["--board"]


def test_on_60_columns_nothing_is_cut_and_no_color_leaves_colours_out(data: Path, games: list[str]) -> None:
    printed = on_a_terminal(60, "games", data=data, NO_COLOR="1")
    assert {*games} <= {*re.findall(r"\b[0-9a-f]{12}\b", printed)}
    assert "…" not in printed
    assert re.search(r"\x1b\[[0-9;]*3[0-7]m", printed) is None


def on_a_terminal(columns: int, *words: str, data: Path, **settings: str) -> str:
    """What a command prints on a terminal so wide."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [*COMMAND, *words], cwd=ROOT, env=environment(data, TERM="xterm", **settings), stdout=its, stdin=its
    ):
        os.close(its)
        printed = b""
        try:
            while part := os.read(ours, 1 << 16):
                printed += part
        except OSError:  # its other end is closed
            pass
    os.close(ours)
    return printed.decode()
