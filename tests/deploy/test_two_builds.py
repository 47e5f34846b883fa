"""Two builds side by side on one log, as in an upgrade: games go on by whichever decides their next command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.compose import GIVEN, ROOT, Running, Stage, stage, wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

PARTS: Final = ("services", "schemas", "ledgerline", "deploy/redis", "docs/reference/rules")
POLICIES: Final = ("greedy", "greedy", "random", "random")
NEWER_EVENT: Final = 'type="seat_freed", code=44', 'type="seat_freed", code=944'


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of a later version, in which a freed seat is an event that today's doesn't know."""
    folder = tmp_path_factory.mktemp("newer")
    for part in PARTS:
        shutil.copytree(
            ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
        )
    change(folder / "services/__init__.py", '"0.1.0"', '"0.2.0"')
    change(folder / "schemas/events.py", *NEWER_EVENT)
    return folder


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, path
    path.write_text(text.replace(old, new))


class Upgrade:
    """An engine, a gateway, bots and an auditor of today's build, with referees of both."""

    def __init__(self, servers: Stage, newer: Path) -> None:
        self.servers, self.newer = servers, newer
        self.games = list[str]()

    def referee(self, *, is_newer: bool) -> Running:
        started = self.servers.start("referee", **({"PYTHONPATH": str(self.newer)} if is_newer else {}))
        wait_until(lambda: started.says("started"))
        return started

    def play_more(self, count: int) -> None:
        self.games += [self.servers.new_game(POLICIES) for _ in range(count)]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of today's build, as the operator."""
        given = {"LEDGERLINE_REDIS_URL": self.servers.engine_url, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "services.cli", *words]
        environment = {"PATH": os.environ["PATH"], **given}
        return subprocess.run(
            command, env=environment, cwd=self.servers.folder, capture_output=True, text=True, check=False
        )


def entries_of(referee: Running) -> dict[str, int]:
    """How many entries a referee has appended, by game."""
    found = dict[str, int]()
    for line in referee.lines():
        if line["event"] == "entry appended":
            found[line["game"]] = found.get(line["game"], 0) + 1
    return found


def moved(servers: Stage, game: str, bearer: Mapping[str, str]) -> bool:
    """Whether a person has made a move, once it could."""
    legal = servers.http.get(f"/v1/games/{game}/legal", headers=bearer).json()["commands"]
    if not legal:
        return False
    sent = servers.http.post(f"/v1/games/{game}/commands", json=legal[0]["command"], headers=bearer)
    return sent.status_code == 200


def test_games_go_on_while_leases_move_between_two_builds(tmp_path: Path, newer: Path) -> None:
    with stage(tmp_path, {**GIVEN, "LEDGERLINE_PARTITIONS": "4", "LEDGERLINE_RETENTION_S": "600"}) as servers:
        # given
        servers.start_engine()
        upgrade = Upgrade(servers, newer)
        referees = [upgrade.referee(is_newer=False)]
        for name in ("gateway", "bots", "auditor"):
            servers.start(name)
        wait_until(servers.healthy)
        # when
        ada, bearer = servers.sit_down()
        wait_until(lambda: moved(servers, ada, bearer))
        for is_newer, stop in ((True, Running.stop), (False, Running.kill), (True, Running.kill)):
            upgrade.play_more(2)
            referees.append(upgrade.referee(is_newer=is_newer))
            stop(referees[-2])
            wait_until(lambda: moved(servers, ada, bearer))
        # then
        wait_until(lambda: all(map(servers.ended, upgrade.games)))
        assert all(ada in entries_of(referee) for referee in referees), "each has decided some of this game"
        for game in (ada, *upgrade.games):
            entries = servers.view(game)
            assert [entry["number"] for entry in entries] == [*range(1, len(entries) + 1)]
            refused = [
                event for entry in entries for event in entry["events"] if event["type"] == "command_refused"
            ]
            assert refused == []
        audited = upgrade.run("audit", ada)
        assert audited.returncode == 0, audited.stdout + audited.stderr
        assert "No dead letters" in upgrade.run("dead", "list").stdout
        for referee in referees:
            assert not [line for line in referee.lines() if line["level"] == "error"]


def test_P4_an_event_of_a_newer_build_stops_its_game_alone_on_the_older_one(
    tmp_path: Path, newer: Path
) -> None:
    with stage(tmp_path, {**GIVEN, "LEDGERLINE_PARTITIONS": "1"}) as servers:
        # given
        servers.start_engine()
        upgrade = Upgrade(servers, newer)
        later = upgrade.referee(is_newer=True)
        for name in ("gateway", "bots"):
            servers.start(name)
        wait_until(servers.healthy)
        seats = [{"kind": "human"}, {"kind": "bot", "policy": "random"}]
        created = servers.http.post("/v1/games", json={"ruleset": "usa", "seats": seats}).json()
        game, host = created["game"], {"Authorization": f"Bearer {created['token']}"}
        assert servers.http.post(f"/v1/games/{game}/join", json={"name": "Ada"}).status_code == 200
        servers.http.post(
            f"/v1/games/{game}/seats/0/free", headers=host
        )  # today's gateway can't read the answer
        wait_until(lambda: entries_of(later).get(game, 0) == 3)
        # when
        assert later.stop() == 0
        earlier = upgrade.referee(is_newer=False)
        servers.http.post(f"/v1/games/{game}/end", headers=host)
        # then
        upgrade.play_more(1)
        wait_until(lambda: servers.ended(upgrade.games[0]))
        [line] = [line for line in earlier.lines() if line["level"] == "error"]
        assert line["event"] == "command moved to dead letters"
        assert line["game"] == game
        assert "a later version may have written it" in line["reason"]
        # and when
        assert earlier.stop() == 0
        again = upgrade.referee(is_newer=True)
        assert upgrade.run("dead", "retry", "--all").returncode == 0
        # then
        wait_until(lambda: entries_of(again).get(game, 0) == 1)
