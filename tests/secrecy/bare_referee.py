"""A referee's command processor without a ledger: what comes of one envelope, and what of it a viewer gets."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Final, NamedTuple

import msgpack

from schemas.commands import CommandEnvelope
from schemas.events import DeckShuffled, Event, TicketsShuffled
from schemas.field_types import Seat
from schemas.hash_chain import COMMITMENT_BYTES
from services.ledger import AppendRequest, BotTask, DeliveredCommand
from services.referee.command_processor import Clocks, CommandProcessor, Decision
from services.referee.fork_expansion import ForkExpander, PendingCommand
from services.referee.game_cache import CachedGame
from services.referee.rules import GameState, UnloggedRejectionError
from services.referee.rules.proof.pile_tracker import PileTracker

OPENED: Final = 1_700_000_000_000
NOWHERE: Final[Any] = None
TAKEN: Final = DeliveredCommand(0, "1-1", b"")


class Came(NamedTuple):
    """All that came of an envelope: events and a verdict, or a rejection's reason."""

    events: tuple[Event, ...]
    verdict: AppendRequest | None
    dismissed: tuple[str, str] | None


class Referee:
    """The product's own command processor, deciding for whichever cached game it is shown."""

    def __init__(self, seed: str = "5e" * 32, origin: Sequence[bytes] = ()) -> None:
        self.now = OPENED
        self.cached_game = CachedGame()
        times = Clocks(lambda: self.now, lambda: self.now)
        self.processor = CommandProcessor(NOWHERE, times, lambda: seed, 0, ForkExpander(lambda game: origin))
        self.processor.game_cache = self  # type: ignore[assignment]  # it asks for one game's sitting, no more

    def get(self, game: str) -> CachedGame:
        return self.cached_game

    def decide(self, cached_game: CachedGame, envelope: CommandEnvelope, now: int) -> Came:
        """What comes of the envelope; the cached game takes it on."""
        self.cached_game, self.now = cached_game, now
        try:
            command = self.processor.forks.admit(PendingCommand(TAKEN, envelope), self.processor.new_seed)
            assert command is not None, "forks are expanded at once here"
            decision: Decision = self.processor._build_decision(command)
        except UnloggedRejectionError as no:
            return Came((), None, (no.rule, no.reason))
        assert isinstance(decision.request, AppendRequest), "no command is sent twice"
        return Came(decision.events, decision.request, None)

    def tried(self, cached_game: CachedGame, envelope: CommandEnvelope, now: int) -> Came:
        """The same, and the cached game stays as it was."""
        return self.decide(branched(cached_game), envelope, now)


def branched(cached_game: CachedGame, table: GameState | None = None) -> CachedGame:
    """A copy that may go its own way, around this table if one is given."""
    other = copy(cached_game)
    other.state = cached_game.state.copy() if table is None else table
    other.last_private_sequences = cached_game.last_private_sequences.copy()
    shuffles, laid, returned, runs = cached_game.pile_tracker.to_state()
    other.pile_tracker = PileTracker.from_state(
        (shuffles, laid, returned, {pile: row[:] for pile, row in runs.items()})
    )
    return other


class Got(NamedTuple):
    """What one viewer gets of an envelope, by bytes where there are bytes."""

    number: int  # what an acknowledgement names, and the order of entries
    public: object
    part: object
    turns: Sequence[BotTask]  # who is called, and so when whose bot moves
    deadline: int | None  # and when the server does
    leaves: object
    head: int  # its length: it follows from the hashes
    result: tuple[str, str] | None  # why it has no entry, for who said it
    kept: bool


def got(came: Came, viewer: Seat | None, sender: Seat | None, *, same_seed: bool) -> Got:
    verdict = came.verdict
    if verdict is None:
        return Got(0, None, None, (), None, None, 0, came.dismissed if sender == viewer else None, False)
    part = dict(verdict.private_parts).get(viewer) if viewer is not None else None
    return Got(
        verdict.expected_length + 1,
        bare_public(verdict.public, same_seed),
        part if same_seed or part is None else bare_part(part),
        verdict.tasks,
        verdict.deadline_ms,
        verdict.eviction,
        len(verdict.head),
        None,
        True,
    )


def bare_public(data: bytes, same_seed: bool) -> object:
    """A public entry with its length, and without what hashes hide: of those the number counts. Where
    nothing but cards differs, the salts that are shown must be the same, byte for byte."""
    form, at, rows, *proofs = msgpack.unpackb(data, use_list=False, strict_map_key=False)
    commitments, leaves, openings = (*proofs, b"", b"")[:3]
    assert len(commitments) % COMMITMENT_BYTES == len(leaves) % COMMITMENT_BYTES == 0
    result = openings if same_seed else len(openings)
    return len(data), form, at, bare_rows(rows), len(commitments), len(leaves), result


def bare_rows(rows: Sequence[Any]) -> object:
    """Rows of events without the roots of shuffles."""
    return [row[:-1] if row and row[0] in ROOTED else row for row in rows]


def bare_part(data: bytes) -> object:
    """A seat's part with its length, and the number of the salts in it."""
    form, before, answers, rows, *openings = msgpack.unpackb(data, use_list=False, strict_map_key=False)
    return len(data), form, before, answers, rows, [len(salts) for salts in openings]


ROOTED: Final = (DeckShuffled.code, TicketsShuffled.code)  # their last field is the root
