"""Who could have chosen a deal: each verifier says it in words, however good the rest is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemas.commands import TakeSeat
from tests.cli.command_line import run_in_process
from tests.verification.audit.small_server import SmallServer
from tests.verification.proof.given import as_file, played, verify_game

NOBODY = "No seat contributed to the deal: the server alone could have chosen it."
NAMED = "Whoever named the seed knew the deal."


class ServerOf(SmallServer):
    """A server whose players contribute as it is told: by seat, in the order in which they sit down."""

    contributes: dict[int, bool]

    def seat_players(self, seats: int) -> None:
        for seat, has_own in self.contributes.items():
            contribution = f"{seat + 1:064x}" if has_own else None
            self.process(None, TakeSeat(f"player {seat}", seat, contribution=contribution))


def file_of(contributes: dict[int, bool]) -> bytes:
    server = ServerOf()
    server.contributes = contributes
    server.play(len(contributes), options={"cars": 4})
    return as_file(server.game, [each.entry for each in server.log])


@pytest.mark.parametrize(
    ("contributes", "said"),
    [
        ({0: False, 1: False}, NOBODY),
        (
            {0: False, 1: True},
            "Seat 1 alone contributed to the deal: with the server it could have chosen it.",
        ),
        (
            {1: True, 0: True, 2: False},
            "Seat 0 contributed last to the deal: with the server it could have chosen it.",
        ),
        (None, NAMED),
    ],
    ids=["no seat", "one seat", "two seats", "a named seed"],
)
def test_P6_each_verifier_says_who_could_have_chosen_the_deal(
    contributes: dict[int, bool] | None, said: str, tmp_path: Path
) -> None:
    # given
    path = tmp_path / "game.ledgerline"
    path.write_bytes(played("usa-two-greedy") if contributes is None else file_of(contributes))
    # when
    report = verify_game.verify(path.read_bytes())
    verified, audited = (run_in_process(command, str(path), "--json") for command in ("verify", "audit"))
    # then
    assert report["good"]
    assert f"{said[0].lower()}{said[1:-1]}" in report["notes"]
    for found in (verified, audited):
        assert (found.returncode, json.loads(found.stdout)["deal"]) == (0, said)
    for command in ("verify", "audit"):
        assert said in " ".join(run_in_process(command, str(path)).stdout.split())
