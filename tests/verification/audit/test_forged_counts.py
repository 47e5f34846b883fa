"""A forged file is checked in bounded time and memory, whatever counts it contains."""

from __future__ import annotations

from dataclasses import replace
from time import thread_time

import pytest

from schemas.events import DeckShuffled
from schemas.stored.codec import unpack_entry
from schemas.stored.hash_chain import initial_head
from schemas.trains.events import DeckLaid, RouteClaimed
from services.archive import GameFile, decode_game_file, encode_game_file
from services.referee.games import GameState, fold_events
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.sealing import ChainState, seal_entry
from services.verification.audit import audit
from services.verification.log_check import Finding, check_file
from services.verification.replay import Replay
from tests.verification.audit.small_server import GAME, SIGNER, SmallServer
from tests.verification.proof.given import first_found

LIMIT_S = 5


def forged(many: int) -> bytes:
    """A short game: so many cards pay for its first route, a deck is laid without any, and is shuffled."""
    entries = [
        unpack_entry(each.entry)
        for each in SmallServer().play(seats=2, random_seed=5, options={"cars": 8}).log
    ]
    claimed = next(n for n, entry in enumerate(entries) if isinstance(entry.events[0], RouteClaimed))
    claim, *rest = entries[claimed].events
    assert isinstance(claim, RouteClaimed)
    paid = replace(claim, cards={next(iter(claim.cards)): many})
    entries[claimed] = replace(entries[claimed], events=(paid, DeckLaid(()), *rest))
    drawn = next(entry for entry in entries if entry.command.type == "draw_blind")
    entries[claimed + 1 :] = [
        replace(drawn, seat=entries[claimed + 1].seat, events=(DeckShuffled((), "00" * 32),))
    ]
    state, piles, chain, sealed = GameState(), PileTracker(), ChainState(0, initial_head(GAME), {}), []
    for entry in entries:
        fold_events(state, entry.at, entry.events)
        sealed.append(seal_entry(state, chain, piles, entry))
        chain = chain.after(sealed[-1])
    return encode_game_file(GAME, [each.entry for each in sealed], [each.head for each in sealed], SIGNER)


def all_findings(file: GameFile) -> list[Finding]:
    return list(audit(Replay(file.game, file.entries), check_file(file)).findings)


@pytest.mark.parametrize("many", [10**7, 10**19])
def test_an_absurd_number_of_cards_is_found_at_once(many: int) -> None:
    data, since = forged(many), thread_time()
    assert {found.kind for found in all_findings(decode_game_file(data))} >= {"chain", "fold"}
    assert first_found(data) is not None
    assert thread_time() - since < LIMIT_S
