"""`ledgerline audit`: a game of the ledger or a file, as text, as JSON, as a page; errors in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import InvalidInputError
from services.archive import encode_game_file
from services.cli.games.audit import load_file, load_game, run_audit
from services.cli.options import parse_public_key
from services.cli.output import GameNotFoundError
from services.ledger import RedisLedger
from services.verification.game_repository import GameRepository
from services.verification.replay import reseal_log
from tests.auditor.given import SIGNER
from tests.referee.running_referee import GAME
from tests.verification.audit.given import USA, golden


def audit(
    named: str, ledger: Any = None, at: int | None = None, html: Path | None = None, key: str | None = None
) -> bool:
    if ledger is None:
        return run_audit(load_file(Path(named), parse_public_key(key)), at, True, html)
    return run_audit(load_game(named, GameRepository(ledger, None)), at, True, html)


def exported(folder: Path, log: list[bytes], game: str = USA) -> Path:
    """The file of a game, with the heads that follow from its log."""
    path = folder / "game.ledgerline"
    heads = [step.sealed.head for step in reseal_log(game, log)]
    path.write_bytes(encode_game_file(game, log, heads, SIGNER))
    return path


def test_a_game_of_the_ledger_is_audited_with_its_views(
    ledger: RedisLedger, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit(GAME, ledger, at=3)
    output = json.loads(capsys.readouterr().out)
    assert (output["game"], output["ok"], output["findings"]) == (GAME, True, [])
    assert output["checked"] == ["chain", "deal", "view", "verdict", "fold"]
    assert set(output["unchecked"]) == {"signature"}
    assert output["move"]["number"] == 3


def test_a_file_is_decided_again_and_makes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert audit(str(exported(tmp_path, golden())), at=100, html=page, key=SIGNER.public_key.hex())
    output = json.loads(capsys.readouterr().out)
    assert (output["game"], output["move"]["number"]) == (USA, 100)
    assert output["checked"] == ["chain", "signature", "deal", "view", "verdict", "fold"]
    assert output["verdict"] == f"Nothing is wrong with game {USA}: everything was checked."
    assert "Entry 100" in page.read_text(encoding="utf-8")


def test_a_file_with_a_dropped_entry_has_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = golden()
    assert not audit(str(exported(tmp_path, [*log[:99], *log[100:]])))
    output = json.loads(capsys.readouterr().out)
    assert output["ok"] is False
    assert 100 in {finding["number"] for finding in output["findings"] if finding["kind"] == "verdict"}


def test_the_terminal_shows_the_verdict_the_move_and_who_saw_what(
    ledger: RedisLedger, capsys: pytest.CaptureFixture[str]
) -> None:
    run_audit(load_game(GAME, GameRepository(ledger, None)), 3, False, None)
    output = capsys.readouterr().out
    for words in (f"game {GAME}", "Entry 3:", "Decided again: the same verdict.", "the public was shown:"):
        assert words in output, words


def test_an_unknown_game_is_one_line(ledger: RedisLedger) -> None:
    with pytest.raises(GameNotFoundError, match=r"^there is no game nobody-s, and no file of that name"):
        audit("nobody-s", ledger)


def test_an_entry_beyond_the_end_is_one_line(ledger: RedisLedger) -> None:
    with pytest.raises(InvalidInputError, match=rf"^--at: game {GAME} has \d+ entries, so no entry 9999$"):
        audit(GAME, ledger, at=9999)


@pytest.mark.parametrize("content", [b"", b"ledgerline/log/1\n", b"PK\x03\x04", b"{}"])
def test_an_invalid_file_is_one_line_that_names_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no.game"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"no\.game: .+"):
        audit(str(path))
    with pytest.raises(InvalidInputError, match="can't be read: Is a directory"):
        audit(str(tmp_path))
    with pytest.raises(InvalidInputError, match="can't be read: No such file"):
        audit(str(tmp_path / "missing.game"))


def test_a_page_that_can_not_be_written_is_one_line(ledger: RedisLedger, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"^--html: .*can't be written"):
        audit(GAME, ledger, html=tmp_path / "no" / "page.html")
