"""The operator's command line sees every game, whoever else may watch it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from schemas.web.tokens import Invitation, TokenKeys
from services.bootstrap.embedded import run_embedded_server
from tests.cli.command_line import read_json, run_in_process
from tests.gateway.clients import CreatedGame, listed_games
from tests.many_clients import settings_for_many_clients


@pytest.mark.long
def test_the_operator_lists_replays_audits_and_forks_a_game_for_its_players_alone(tmp_path: Path) -> None:
    # given
    with (
        run_embedded_server(tmp_path, settings_for_many_clients()) as running,
        httpx.Client(base_url=running.url, timeout=20, trust_env=False) as http,
    ):
        created = CreatedGame(http, "human", "human", visibility="players", spectator_delay=1)
        created.join("Ada")
        created.join("Bo")
        created.start()
        assert listed_games(http) == []
    # when
    [listed] = read_json("games", data=tmp_path)["games"]
    replayed = read_json("replay", created.game, data=tmp_path)
    refused = run_in_process("fork", created.game, "--at", "4", data=tmp_path)
    # then
    assert (listed["game"], listed["visibility"], listed["spectator_delay"]) == (created.game, "players", 1)
    assert replayed["entries"] == 4
    assert run_in_process("audit", created.game, data=tmp_path).returncode == 0
    assert refused.stderr.strip().endswith(f"--at: game {created.game} shows everybody 3 entries")


@pytest.mark.long
def test_a_fork_of_a_game_by_invitation_comes_with_its_invitations(tmp_path: Path) -> None:
    with (
        run_embedded_server(tmp_path, settings_for_many_clients()) as running,
        httpx.Client(base_url=running.url, timeout=20, trust_env=False) as http,
    ):
        created = CreatedGame(http, "human", "human", visibility="players")
        created.join("Ada")
        created.join("Bo")
        created.start()
        keys = TokenKeys(running.settings.token_key.get_secret_value().encode())
    fork = read_json("fork", created.game, "--at", "4", "--as", "0", data=tmp_path)
    [invitation] = fork["invitations"]
    verified = keys.verify_invitation(invitation["invitation"])
    assert verified is not None
    assert verified == Invitation(fork["game"], invitation["seat"], verified.ends_at_s)
    assert invitation["seat"] == 1
    described = run_in_process("fork", created.game, "--at", "4", data=tmp_path).stdout
    assert "Seat A is taken with this invitation:" in described
    assert "lli1." in described
