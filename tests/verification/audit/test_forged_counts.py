"""A file that anybody may have forged is checked within bounds: what it counts is never laid out."""

from __future__ import annotations

from dataclasses import replace
from time import thread_time

import pytest

from schemas.codec import unpack_entry
from schemas.events import DeckLaid, DeckShuffled, RouteClaimed
from schemas.hash_chain import initial_head
from services.archive import GameFile, decode_game_file, encode_game_file
from services.referee.rules import GameState, fold_events
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.rules.proof.sealing import ChainState, seal_entry
from services.verification.audit import audit
from services.verification.findings import Finding
from services.verification.log_check import check_file
from services.verification.replay import Replay
from tests.verification.audit.small_server import GAME, SIGNER, SmallServer
from tests.verification.proof.given import first_found

SOON_S = 5


def forged(many: int) -> bytes:
    """A short game: so many cards pay for its first route, a deck is laid without any, and is shuffled."""
    entries = [
        unpack_entry(each.entry)
        for each in SmallServer().play(seats=2, random_seed=5, options={"cars": 8}).log
    ]
    at = next(at for at, entry in enumerate(entries) if isinstance(entry.events[0], RouteClaimed))
    claim, *rest = entries[at].events
    assert isinstance(claim, RouteClaimed)
    paid = replace(claim, cards={next(iter(claim.cards)): many})
    entries[at] = replace(entries[at], events=(paid, DeckLaid(()), *rest))
    drawn = next(entry for entry in entries if entry.command.type == "draw_blind")
    entries[at + 1 :] = [replace(drawn, seat=entries[at + 1].seat, events=(DeckShuffled((), "00" * 32),))]
    table, piles, past, sealed = GameState(), PileTracker(), ChainState(0, initial_head(GAME), {}), []
    for entry in entries:
        fold_events(table, entry.at, entry.events)
        sealed.append(seal_entry(table, past, piles, entry))
        past = past.after(sealed[-1])
    return encode_game_file(GAME, [each.entry for each in sealed], [each.head for each in sealed], SIGNER)


def everything(file: GameFile) -> list[Finding]:
    return list(audit(Replay(file.game, file.entries), check_file(file)).findings)


@pytest.mark.parametrize("many", [10**7, 10**19])
def test_cards_without_number_are_found_at_once(many: int) -> None:
    data, since = forged(many), thread_time()
    assert {found.kind for found in everything(decode_game_file(data))} >= {"chain", "verdict"}
    assert first_found(data) is not None
    assert thread_time() - since < SOON_S
