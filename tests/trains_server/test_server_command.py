"""`ledgerline trains-server`: a tournament with clients of the product, from sign-up to the games' logs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from services.bots.trains.trains_strategies import BUY_NOW, HOLD_10
from services.trains_server.peer_connection import ClockLimits
from services.trains_server.server_cases import LOOPBACK
from services.trains_server.tcp_client import ClientAnswers, StrategyPlayer, sign_up_and_play
from tests.cli.command_line import ROOT, run_in_process, start_process
from tests.trains_server.peers import MAP, cards_of


@pytest.mark.parametrize(
    ("option", "content", "named"),
    [
        ("--deck", '["red"]', "1 cards, a game may deal 32"),
        ("--deck", json.dumps(["gold"] * 40), "--deck"),
        ("--deck", "[] []", "must hold one JSON value, not 2"),
        ("--map", "{}", "map: must be an object"),
        ("--map", "{", "isn't JSON"),
    ],
)
def test_a_wrong_file_is_named_before_anybody_can_sign_up(
    tmp_path: Path, option: str, content: str, named: str
) -> None:
    (tmp_path / "file").write_text(content)
    done = run_in_process(
        "trains-server", "--port", "0", option, str(tmp_path / "file"), data=tmp_path / "data"
    )
    assert done.returncode == 2
    assert done.stderr.startswith("ledgerline: ") and named in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_tournament_that_nobody_could_play_is_refused(tmp_path: Path) -> None:
    done = run_in_process(
        "trains-server", "--port", "0", "--least", "9", "--most", "8", data=tmp_path / "data"
    )
    assert (done.returncode, done.stderr) == (2, "ledgerline: --least: 9 is more than --most, 8\n")


async def play_against_each_other(port: int) -> list[bool | None]:
    """Whether Ann (Buy-Now) and Bob (Hold-10) have won."""
    players = {
        "Ann": ClientAnswers(StrategyPlayer(BUY_NOW), MAP),
        "Bob": ClientAnswers(StrategyPlayer(HOLD_10), MAP),
    }
    await asyncio.gather(
        *(
            sign_up_and_play(
                name, answers.answer, host=LOOPBACK, port=port, time_limits=ClockLimits(), silence_s=240
            )
            for name, answers in players.items()
        )
    )
    return [answers.has_won for answers in players.values()]


@pytest.mark.long
def test_a_tournament_from_sign_up_to_the_games_logs(tmp_path: Path) -> None:
    (tmp_path / "deck").write_text(json.dumps(cards_of(1, 48)))
    data = tmp_path / "data"
    words = (
        "--port",
        "0",
        "--most",
        "2",
        "--wait-s",
        "240",
        "--answer-s",
        "120",
        "--deck",
        str(tmp_path / "deck"),
    )
    with start_process("trains-server", *words, "--json", data=data) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        assert line.startswith(f"Players may sign up at {LOOPBACK}:")
        won = asyncio.run(play_against_each_other(int(line.rstrip(".\n").rpartition(":")[2])))
        out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    winners, removed = json.loads(out)
    assert winners == [name for name, has_won in zip(("Ann", "Bob"), won, strict=True) if has_won]
    assert winners and not removed
    (game,) = json.loads(run_in_process("games", "--json", data=data).stdout)["games"]
    assert "The game is over" in run_in_process("replay", game["game"], data=data).stdout
    assert run_in_process("audit", game["game"], data=data).returncode == 0
    exported = str(tmp_path / "game.ledgerline")
    assert run_in_process("export", game["game"], exported, data=data).returncode == 0
    assert run_in_process("verify", exported).returncode == 0
    verifier = subprocess.run(
        [sys.executable, ROOT / "deploy/verify_game.py", exported], check=False, capture_output=True
    )
    assert (verifier.returncode, verifier.stderr) == (0, b"")
