"""A process that was started where a game's package isn't installed: a referee, bots or an auditor."""

from __future__ import annotations

import pytest

from schemas.commands import CommandEnvelope
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import GameCreated
from schemas.stored.codec import pack_envelope, unpack_envelope
from schemas.stored.rows import event_to_row, trusted_row_to_event
from services.referee.games import GameState, fold_events
from tests.games.added_package import BIDS, added_package
from tests.games.test_bids import Table


def test_a_process_without_the_game_names_what_it_lacks() -> None:
    with added_package(BIDS, "ledgerline_bids", "BIDS") as package:
        queued = pack_envelope(CommandEnvelope("one", "a-game", 0, package.LayBid("3")))
        shown = event_to_row(package.BidShown(0, "3"))
        created = next(event for event in Table(package).log if isinstance(event, GameCreated))
    with pytest.raises(
        InvalidInputError, match="type: is 'lay_bid', which no game that is installed here has"
    ):
        unpack_envelope(queued)
    with pytest.raises(CorruptDataError, match="'bids:3'"):
        trusted_row_to_event(shown)
    with pytest.raises(CorruptDataError, match="played by version 1 of the rules bids, not installed here"):
        fold_events(GameState(), 0, [created])
