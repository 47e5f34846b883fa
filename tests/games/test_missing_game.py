"""A process that was started where a game's package isn't installed: a referee, bots or an auditor."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.commands import CommandEnvelope
from schemas.errors import InvalidInputError, MissingGameError
from schemas.events import GameCreated
from schemas.stored.codec import pack_envelope, unpack_envelope
from schemas.stored.rows import event_to_row, trusted_row_to_event
from services.archive import Signer, encode_game_file
from services.referee.games import GameState, fold_events
from services.referee.games.found_games import RULESET_VERSIONS
from tests.cli.command_line import run_in_process
from tests.games.added_package import BIDS, added_package
from tests.games.test_bids import Table
from tests.rules.sealed_games import GAME, fixed_games


def test_a_process_without_the_game_names_what_it_lacks() -> None:
    with added_package(BIDS, "ledgerline_bids", "BIDS") as package:
        queued = pack_envelope(CommandEnvelope("one", "a-game", 0, package.LayBid("3")))
        shown = event_to_row(package.BidShown(0, "3"))
        created = next(event for event in Table(package).log if isinstance(event, GameCreated))
    with pytest.raises(
        InvalidInputError, match="type: is 'lay_bid', which no game that is installed here has"
    ):
        unpack_envelope(queued)
    with pytest.raises(MissingGameError, match="the game bids, which has the event bids:3, isn't installed"):
        trusted_row_to_event(shown)
    with pytest.raises(MissingGameError, match="version 1 of the rules bids isn't installed here: install"):
        fold_events(GameState(), 0, [created])


@pytest.mark.parametrize("words", ["audit", "verify", "replay"])
def test_nothing_is_said_of_a_file_whose_game_is_not_installed_but_what_to_install(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given the file of an honest game
    game = next(iter(fixed_games("tricks")))
    path = tmp_path / "game.ledgerline"
    heads = [entry.head for entry in game.sealed]
    log = [entry.entry for entry in game.sealed]
    path.write_bytes(encode_game_file(GAME, log, heads, Signer("01" * 32)))
    # when a process without its rules is asked about it
    monkeypatch.delitem(RULESET_VERSIONS, ("tricks", 1))
    result = run_in_process(words, str(path))
    # then it isn't accused
    assert result.returncode != 0
    assert result.stderr == (
        "ledgerline: version 1 of the rules tricks isn't installed here: install the package that has it, and"
        " start this program again\n"
    )
    assert result.stdout == ""
