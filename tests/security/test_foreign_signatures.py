"""Games in the archive that somebody else signed: neither served nor forked, and an audit says whose they are not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import GameCreated
from schemas.stored.codec import unpack_entry
from services.archive import Archive, Signer, TrustedKeys, encode_game_file, trusted_keys
from services.bootstrap.composition import run_gateway, run_referee
from services.runtime.settings import read_settings
from services.verification.game_repository import FinishedGameReader, GameRepository
from tests.auditor.given import SIGNER, played
from tests.cli.command_line import CommandResult, run_in_process
from tests.security.conftest import WholeServer
from tests.verification.proof.given import verify_game

STRANGER: Final = Signer("66" * 32)
OWN: Final = SIGNER.public_key.hex()
DAY_MS: Final = 86_400_000


class EmptyLedger:
    """A ledger that every game has left for the archive."""

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        return []

    def read_view(self, *_: object) -> list[Any]:
        return []

    def read_stored_game(self, game: str) -> None:
        """It has no file of any game either."""


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    """An archive whose game a stranger has signed again."""
    archive = Archive((tmp_path / "archive").as_uri())
    game, log, heads = played()
    archive.write(game, encode_game_file(game, log, heads, STRANGER))
    yield archive


def repository(archive: Archive, trusted: TrustedKeys) -> GameRepository:
    ledger: Any = EmptyLedger()
    return GameRepository(ledger, FinishedGameReader(archive, trusted))


def test_a_game_that_a_stranger_signed_is_neither_served_nor_forked(archive: Archive) -> None:
    games = repository(archive, trusted_keys("", SIGNER))
    for read in (lambda: games.read_entries(played().game), lambda: games.read_view(played().game, None)):
        with pytest.raises(CorruptDataError, match="isn't the server's"):
            read()
    believed = repository(archive, trusted_keys(STRANGER.public_key.hex(), SIGNER))
    assert believed.read_entries(played().game) == played().log
    assert len(believed.read_view(played().game, None)) == len(played().log)


@pytest.mark.parametrize(
    ("since", "before", "believed"),
    [
        (-1, None, True),
        (None, 1, True),
        (0, 0, True),
        (1, None, False),
        (None, -1, False),
        (None, None, True),
    ],
)
def test_a_key_is_believed_for_games_of_its_time(
    archive: Archive, since: int | None, before: int | None, believed: bool
) -> None:
    """The days are counted from that on which the game was created."""
    days = "..".join("" if days is None else day_of_game(days) for days in (since, before))
    keys = trusted_keys(f"{STRANGER.public_key.hex()}@{days}, {OWN}", None)
    if believed:
        assert repository(archive, keys).read_entries(played().game)
    else:
        with pytest.raises(CorruptDataError, match="or wasn't when the game was created"):
            repository(archive, keys).read_entries(played().game)


def day_of_game(later: int) -> str:
    created = unpack_entry(played().log[0]).events[0]
    assert isinstance(created, GameCreated)
    return datetime.fromtimestamp((created.created + later * DAY_MS) / 1000, UTC).date().isoformat()


@pytest.mark.parametrize("wrong", ["7f", OWN + "@", OWN + "@2026-13-01..", OWN + "@2026-02-30..", "zz" * 32])
def test_a_key_that_can_t_be_read_is_named(wrong: str) -> None:
    with pytest.raises(InvalidInputError, match="LEDGERLINE_PUBLIC_KEYS"):
        trusted_keys(wrong, SIGNER)


@pytest.mark.parametrize("run", [run_gateway, run_referee])
def test_a_service_that_reads_an_archive_asks_whose_games_to_believe(run: Any, tmp_path: Path) -> None:
    settings = read_settings(archive_url=tmp_path.as_uri(), token_key="k" * 40)
    with pytest.raises(InvalidInputError, match="LEDGERLINE_PUBLIC_KEYS"):
        run(settings, None)


def run(archive: Archive, engine_url: str, *words: str) -> CommandResult:
    return run_in_process(
        *words,
        LEDGERLINE_REDIS_URL=engine_url,
        LEDGERLINE_PUBLIC_KEYS=OWN,
        LEDGERLINE_ARCHIVE_URL=archive.url,
    )


def test_an_audit_of_the_game_finds_the_foreign_signature(archive: Archive, engine_url: str) -> None:
    result = run(archive, engine_url, "audit", played().game, "--json")
    [finding] = json.loads(result.stdout)["findings"]
    assert (result.returncode, finding["kind"]) == (1, "signature")
    assert STRANGER.public_key.hex() in finding["why"]
    assert run(archive, engine_url, "replay", played().game).returncode == 1


@pytest.mark.parametrize("path", ["view", "state", "audit", "file", "replays", "stream", "board"])
def test_a_game_that_a_stranger_signed_is_refused_with_its_reason(whole: WholeServer, path: str) -> None:
    # given
    game, log, heads = played()
    store = Archive((whole.data / "archive").as_uri())
    store.write(game, encode_game_file(game, log, heads, STRANGER))
    # when
    reply = whole.http.get(f"/v1/games/{game}/{path}")
    # then
    assert (reply.status_code, reply.json()["rule"]) == (404, "GAME-1")
    assert f"signed with the key {STRANGER.public_key.hex()}" in reply.json()["detail"]


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_without_a_key_nothing_is_said_about_who_signed_a_file(command: str, tmp_path: Path) -> None:
    path = tmp_path / "game.ledger"
    game, log, heads = played()
    path.write_bytes(encode_game_file(game, log, heads, STRANGER))
    said = run_in_process(command, str(path))
    assert said.returncode == 0
    assert "nothing says whose that is" in " ".join(said.stdout.replace("│", " ").split())
    assert run_in_process(command, str(path), "--key", STRANGER.public_key.hex()).returncode == 0
    assert run_in_process(command, str(path), "--key", OWN).returncode == 1
    assert run_in_process(command, str(path), "--key", "7f").returncode == 2
    assert "whose key signed" in str(verify_game.verify(path.read_bytes())["notes"])
    assert "whose key" not in str(verify_game.verify(path.read_bytes(), STRANGER.public_key.hex())["notes"])


def test_the_public_key_of_the_service_is_printed(tmp_path: Path) -> None:
    printed = run_in_process("public-key", data=tmp_path, LEDGERLINE_SIGNING_KEY="7f" * 32)
    assert printed.stdout.strip() == OWN
    made = run_in_process("public-key", data=tmp_path).stdout.strip()
    assert made == Signer((tmp_path / "signing.key").read_text().strip()).public_key.hex()
