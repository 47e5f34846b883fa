"""docs/how-to/runbook.md, played: services of compose.yaml with a trouble, and the page's commands as an operator types them.

What the page leaves open (`PID`, `LETTER`, `GAME`) is put in, as a person reads it off the command before; what docker
does is done to the processes."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.chaos.systems import OneEngine
from tests.deploy.compose import ROOT, Stage, stage, wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]
PAGE: Final = (ROOT / "docs" / "how-to" / "runbook.md").read_text(encoding="utf-8")


BROKEN: Final = """
from services.referee import command_processor

real = command_processor.build_decision


def build_decision(command, *others):
    if command.envelope.id.startswith("dies-"):
        raise KeyError("purple")
    return real(command, *others)


command_processor.build_decision = build_decision
"""  # a version of the referee with a fault, as Python runs it first


class Played(OneEngine):
    """A system with a trouble, and its operator."""

    def __init__(self, at: Stage) -> None:
        super().__init__(at)
        self.exported: dict[str, str] = {}  # in the operator's shell

    def commands(self, symptom: str) -> list[str]:
        """The lines of the page's blocks under a symptom, without their comments."""
        [section] = [part for part in PAGE.split("\n## ")[1:] if part.startswith(f"{symptom}\n")]
        blocks = re.findall(r"```console\n(.*?)```", section, re.S)
        return [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]

    def type(self, line: str, **put_in: str) -> subprocess.CompletedProcess[str]:
        """Run a line of the page, with what it leaves open."""
        words = [put_in.get(word, word) for word in shlex.split(line)]
        program = [sys.executable, str(ROOT / "deploy" / "ledgerline")]
        given = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "LEDGERLINE_REDIS_URL": self.at.engine_url,
            "LEDGERLINE_ARCHIVE_URL": (self.at.folder / "archive").as_uri(),
            "LEDGERLINE_PUBLIC_KEYS": self.at.file["services"]["gateway"]["environment"][
                "LEDGERLINE_PUBLIC_KEYS"
            ],
        }
        whole = [*program, *words[1:]] if words[0] == "ledgerline" else words
        if words[0] == "export":  # in the operator's shell: it stays
            name, _, value = line.removeprefix("export ").partition("=")
            whole = ["sh", "-c", f"printf %s {value}"]
        done = subprocess.run(
            whole, env=given | self.exported, cwd=self.at.folder, capture_output=True, text=True, check=False
        )
        if words[0] == "export":
            self.exported[name] = done.stdout
        return done

    def status(self) -> dict[str, Any]:
        """What `ledgerline status` says now."""
        answer: dict[str, Any] = json.loads(self.type("ledgerline status --json").stdout)
        return answer

    def moves(self, game: str) -> None:
        """Return when the game has another entry."""
        before = len(self.at.view(game))
        wait_until(lambda: len(self.at.view(game)) > before)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[Played]:
    with stage(tmp_path) as at:
        played = Played(at)
        played.start_services(["gateway", "referee", "bots"])
        yield played
        played.client.close()


def long_game(at: Stage) -> str:
    """A game of bots of some hundred entries."""
    return at.new_game(["random", "random"])


def test_a_referee_that_hangs_is_named_killed_and_started_again(system: Played) -> None:
    [look, kill] = system.commands("A node that hangs")
    [referee] = system.of("referee")
    referee.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: system.type(look).returncode == 1)
    said = system.type(look).stdout
    assert "referee" in said
    assert system.type(kill, PID=str(referee.process.pid)).returncode == 0
    referee.process.wait()
    system.kill(referee)
    system.moves(long_game(system.at))
    wait_until(lambda: system.type(look).returncode == 0)


def test_an_engine_that_hangs_is_named_killed_and_started_again_with_all_it_answered(system: Played) -> None:
    [look, kill] = system.commands("A node that hangs")
    game, _ = system.at.sit_down()
    entries = system.at.view(game)
    system.engine.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: any(service.says("engine away") for service in system.services))
    hung = system.type(look)
    assert (hung.returncode, "engine" in hung.stdout + hung.stderr) == (1, True)
    assert system.type(kill, PID=str(system.engine.process.pid)).returncode == 0
    system.engine.process.wait()
    system.restart_engine()
    wait_until(system.at.healthy)
    assert system.at.view(game)[: len(entries)] == entries
    system.moves(long_game(system.at))


def test_dead_letters_are_shown_retried_once_the_cause_is_mended_and_dropped(system: Played) -> None:
    lists, show, retry, drop = system.commands("Dead letters")
    game, bearer = system.at.sit_down()
    [referee] = system.of("referee")
    assert referee.stop() == 0
    system.services.remove(referee)
    (system.at.folder / "broken").mkdir()
    (system.at.folder / "broken" / "sitecustomize.py").write_text(BROKEN)
    broken = system.at.start("referee", PYTHONPATH=f"{system.at.folder / 'broken'}:{ROOT}")
    legal = system.at.http.get(f"/v1/games/{game}/legal", headers=bearer).json()["commands"]
    for number in (1, 2):
        asked = {**bearer, "Idempotency-Key": f"dies-{number}", "Prefer": "respond-async"}
        sent = system.at.http.post(f"/v1/games/{game}/commands", json=legal[0]["command"], headers=asked)
        assert sent.status_code == 202
    letters = list[dict[str, Any]]()

    def both_are_dead() -> bool:
        letters[:] = json.loads(system.type(f"{lists} --json").stdout)["dead"]
        return {each["id"] for each in letters} == {"dies-1", "dies-2"}

    wait_until(both_are_dead)
    by_id = {each["id"]: each["letter"] for each in letters}
    assert game in system.type(lists).stdout
    assert "purple" in system.type(show, LETTER=by_id["dies-1"]).stdout
    assert system.type(drop, LETTER=by_id["dies-2"]).returncode == 0
    assert broken.stop() == 0
    system.services.append(system.at.start("referee"))
    assert system.type(retry).returncode == 0
    wait_until(lambda: "dies-1" in {entry["answers"] for entry in system.at.view(game, bearer)})
    assert "dies-2" not in {entry["answers"] for entry in system.at.view(game, bearer)}
    assert "No dead letters" in system.type(lists).stdout


def test_a_backlog_that_grows_names_the_missing_service_and_goes_once_more_are_started(
    system: Played,
) -> None:
    look, more = system.commands("A backlog that grows")
    game, bearer = system.at.sit_down()
    [referee] = system.of("referee")
    referee.kill()
    system.services.remove(referee)
    legal = system.at.http.get(f"/v1/games/{game}/legal", headers=bearer).json()["commands"]
    asked = {**bearer, "Idempotency-Key": "waits", "Prefer": "respond-async"}
    assert (
        system.at.http.post(f"/v1/games/{game}/commands", json=legal[0]["command"], headers=asked).status_code
        == 202
    )
    wait_until(lambda: "or longer in partitions" in system.type(look).stdout)
    said = system.type(look).stdout
    assert "no referee gave a sign" in said
    assert re.search(r"commands wait for 1\d s or longer in partitions: \d+", said), said
    wanted = dict(re.findall(r"--scale (\w+)=(\d)", more))
    assert wanted == {"referee": "3", "bots": "2"}
    for name, count in wanted.items():
        for _ in range(int(count) - len(system.of(name))):
            system.services.append(system.at.start(name))
    wait_until(lambda: "waits" in {entry["answers"] for entry in system.at.view(game, bearer)})
    wait_until(lambda: system.type(look).returncode == 0)


def test_a_damaged_game_is_found_taken_out_of_a_backup_and_brought_back(system: Played) -> None:
    audit, *others = system.commands("A game that can't be read")
    system.services.append(system.at.start("auditor"))
    game = long_game(system.at)
    archive = system.at.folder / "archive"
    wait_until(lambda: [*archive.rglob(f"{game}.ledgerline")])
    assert system.type("ledgerline backup BACKUP").returncode == 0
    [file] = archive.rglob(f"{game}.ledgerline")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    for key in system.client.scan_iter(f"*{game}*", 10_000):
        system.client.delete(key)
    damaged = system.type(audit, GAME=game)
    assert damaged.returncode == 1, damaged.stdout
    print(damaged.stdout, damaged.stderr)
    for line in others:
        done = system.type(line, GAME=game)
        print(line, done.stdout, done.stderr)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert system.type(audit, GAME=game).returncode == 0
