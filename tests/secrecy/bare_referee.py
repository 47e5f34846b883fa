"""A command processor without a ledger: the outcome of one envelope, and what a viewer receives of it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Final, NamedTuple

import msgpack

from schemas.commands import CommandEnvelope, ForkGame
from schemas.events import Event
from schemas.field_types import Seat
from schemas.stored.hash_chain import COMMITMENT_BYTES
from services.ledger import AppendRequest, BotTask, Delivery
from services.referee.command_processor import CommandProcessor
from services.referee.decision_building import Clocks, Decision
from services.referee.decision_limit import DecisionLimit
from services.referee.fork_expansion import ForkExpander, PendingCommand
from services.referee.game_cache import CachedGame
from services.referee.games import GameState, UnloggedRejectionError
from services.referee.games.proof.pile_tracker import PileTracker
from tests.rules.given import SHUFFLES

OPENED_MS: Final = 1_700_000_000_000


class NoLedger:
    """Nothing is stored, so no name lies beside a log."""

    def read_names(self, game: str) -> dict[str, Any]:
        return {}


NO_LEDGER: Final[Any] = NoLedger()
DELIVERED: Final = Delivery(0, "1-1", b"")


class Outcome(NamedTuple):
    """The whole outcome of an envelope: events and the append, or the rule and reason of an unlogged rejection."""

    events: tuple[Event, ...]
    verdict: AppendRequest | None
    rejection: tuple[str, str] | None


class Referee:
    """The product's own command processor, deciding on the cached game that it is given."""

    def __init__(self, seed: str = "5e" * 32, origin: Sequence[bytes] = ()) -> None:
        self.now_ms = OPENED_MS
        self.cached_game = CachedGame()
        clocks = Clocks(lambda: self.now_ms, lambda: self.now_ms)
        self.processor = CommandProcessor(
            NO_LEDGER, clocks, lambda: seed, 0, ForkExpander(lambda game: origin), DecisionLimit()
        )
        self.processor.game_cache = self  # type: ignore[assignment]  # the processor calls `get` only

    def get(self, game: str) -> CachedGame:
        return self.cached_game

    def decide(self, cached_game: CachedGame, envelope: CommandEnvelope, now_ms: int) -> Outcome:
        """The outcome of the envelope; the cached game is updated."""
        self.cached_game, self.now_ms = cached_game, now_ms
        try:
            delivered = PendingCommand(DELIVERED, envelope, is_heavy=isinstance(envelope.command, ForkGame))
            command = self.processor.forks.admit(delivered, self.processor.new_seed)
            assert command is not None, "forks are expanded at once here"
            decision: Decision = self.processor._decide_within_limit(command)
        except UnloggedRejectionError as rejection:
            return Outcome((), None, (rejection.rule, rejection.reason))
        assert isinstance(decision.request, AppendRequest), "no command is sent twice"
        return Outcome(decision.events, decision.request, None)

    def decide_on_copy(self, cached_game: CachedGame, envelope: CommandEnvelope, now_ms: int) -> Outcome:
        """The same on a copy: the cached game stays as it was."""
        return self.decide(branched(cached_game), envelope, now_ms)


def branched(cached_game: CachedGame, state: GameState | None = None) -> CachedGame:
    """An independent copy of the cached game, with this state instead of its own if one is given."""
    copied = copy(cached_game)
    copied.state = cached_game.state.copy() if state is None else state
    copied.answered_ids = cached_game.answered_ids[:]
    copied.last_private_sequences = cached_game.last_private_sequences.copy()
    shuffles, laid, returned, runs = cached_game.pile_tracker.to_state()
    copied.pile_tracker = PileTracker.from_state(
        (shuffles, laid, returned, {pile: row[:] for pile, row in runs.items()})
    )
    return copied


class Received(NamedTuple):
    """What one viewer receives of an envelope: as bytes where it is sent as bytes."""

    entry_number: int  # of the entry, as an acknowledgement names it; 0: no entry
    public: object
    private_part: object
    tasks: Sequence[BotTask]  # which bots move, and when
    deadline: int | None  # when the server acts by itself
    eviction: object
    head_length: int  # in bytes; the hash itself depends on hidden data
    rejection: tuple[str, str] | None  # why there is no entry, for the sender only
    is_logged: bool


def received(outcome: Outcome, viewer: Seat | None, sender: Seat | None, *, same_seed: bool) -> Received:
    verdict = outcome.verdict
    if verdict is None:
        return Received(
            0, None, None, (), None, None, 0, outcome.rejection if sender == viewer else None, False
        )
    private_part = dict(verdict.private_parts).get(viewer) if viewer is not None else None
    return Received(
        verdict.expected_length + 1,
        comparable_public_entry(verdict.public, same_seed),
        private_part if same_seed or private_part is None else comparable_private_part(private_part),
        verdict.tasks,
        verdict.deadline_ms,
        verdict.eviction,
        len(verdict.head),
        None,
        True,
    )


def comparable_public_entry(data: bytes, same_seed: bool) -> object:
    """A public entry as it is compared: its length, its contents, and the lengths of commitments and leaves
    in place of the hashes. With the same seed the opened salts must be equal byte for byte."""
    entry_format, at_ms, rows, *proofs = msgpack.unpackb(data, use_list=False, strict_map_key=False)
    commitments, leaf_hashes, openings = (*proofs, b"", b"")[:3]
    assert len(commitments) % COMMITMENT_BYTES == len(leaf_hashes) % COMMITMENT_BYTES == 0
    salts = openings if same_seed else len(openings)
    return (
        len(data),
        entry_format,
        at_ms,
        without_shuffle_roots(rows),
        len(commitments),
        len(leaf_hashes),
        salts,
    )


def without_shuffle_roots(rows: Sequence[Any]) -> object:
    """Rows of events without the Merkle roots of shuffles."""
    return [row[:-1] if row and row[0] in ROOTED else row for row in rows]


def comparable_private_part(data: bytes) -> object:
    """A seat's private part as it is compared: its length, its contents, and the lengths of the salts in it."""
    entry_format, previous_part, answers, rows, *openings = msgpack.unpackb(
        data, use_list=False, strict_map_key=False
    )
    return len(data), entry_format, previous_part, answers, rows, [len(salts) for salts in openings]


ROOTED: Final = tuple(kind.code for kind in SHUFFLES)  # rows whose last field is the root
