"""An observer outside the server: it reads the engine directly, and records every entry as it is
appended and every answer that a client gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from schemas.events import PlayOffCalled
from schemas.field_types import Seat
from schemas.stored.codec import unpack_entry
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head, next_head
from services.ledger import MissingEntryError
from services.ledger.engine import keys
from services.ledger.scripts.stored_entries import parse_stored
from services.referee.games import GameState, fold_events
from tests.simulator.agenda import NEVER
from tests.simulator.chains import SentHead
from tests.simulator.gateways import PendingRequest
from tests.simulator.network import Call

if TYPE_CHECKING:
    from tests.simulator.world import World


class Answer(NamedTuple):
    """An answer that a client got: the verdict on its command."""

    game: str
    seat: Seat | None
    id: str
    level: str
    number: int  # 0 where it is only accepted, or got no entry
    rule: str  # '' where it was accepted


class Record:
    """One game's log as it was written, and the state that follows from it."""

    def __init__(self, game: str) -> None:
        self.game, self.state = game, GameState()
        self.stored: list[bytes] = []
        self.heads = [initial_head(game)]  # after each entry, from before the first on
        self.entries: list[Entry] = []
        self.verdicts: dict[tuple[Seat | None, str], int] = {}
        self.called: PlayOffCalled | None = None


class Recorder:
    def __init__(self, world: World) -> None:
        self.world = world
        self.records: dict[str, Record] = {}
        self.read_at = -NEVER  # when the last entry was read
        self.lost_at = -NEVER  # when the engine last lost writes
        self.losses = 0  # how often it lost some
        self.open: set[str] = set()  # games that haven't ended
        self.heads: set[tuple[str, int, bytes]] = set()  # of every entry there ever was, lost ones too
        self.sent_heads: list[SentHead] = []
        self.answers: list[Answer] = []
        self.poison: set[str] = set()  # ids of accepted commands that can't be decided
        self.rejections: set[str] = set()  # keys that hold why a command got no entry

    # -- logs ----------------------------------------------------------------------------

    def observe(self, calls: Sequence[Call]) -> None:
        """After a round trip was executed: read on in every log that it names."""
        for call in calls:
            for word in call[2:6]:
                if not isinstance(word, str):
                    continue
                if word.endswith(":log"):
                    self.read(word.split(":g:")[1].removesuffix(":log"))
                elif ":rejected:" in word and self.world.peek.exists(word):
                    self.rejections.add(word)

    def read(self, game: str) -> None:
        """Record what is new in a game's log; a gap in its numbers is a complaint."""
        record = self.records.get(game) or Record(game)
        number = len(record.stored)
        try:
            new = self.world.ledger.read_entries(game, number)
        except MissingEntryError as error:
            self.world.complain(f"P3 {game}: {error}")
            return
        for data in new:
            self._append(record, data)
        if new:
            self._check_chain(record)
            self.records[game] = record
            self.open.add(game)
            self.read_at = self.world.clock.now
            if record.state.result:
                self.open.discard(game)

    def _append(self, record: Record, data: bytes) -> None:
        entry = unpack_entry(data)
        record.stored.append(data)
        record.entries.append(entry)
        fold_events(record.state, entry.at, entry.events)
        command = (entry.seat, entry.id)
        if command in record.verdicts:
            self.world.complain(
                f"P2 {record.game}: {command} has two verdicts, {record.verdicts[command]} and now"
            )
        record.verdicts[command] = len(record.stored)
        for event in entry.events:
            if isinstance(event, PlayOffCalled):
                record.called = event

    def _check_chain(self, record: Record) -> None:
        """The heads computed from the public entries must be those stored beside them."""
        game = record.game
        name = keys.public_view(self.world.partition_of(game), game)
        stored_heads: list[tuple[int, bytes]] = []
        for entry in parse_stored(self.world.peek.xrange(name, f"{len(record.heads)}-0")):
            record.heads.append(next_head(record.heads[-1], entry.number, entry.public))
            self.heads.add((game, entry.number, record.heads[-1]))
            stored_heads += [(entry.number, entry.head)] if entry.head else []
        for number, head in (*stored_heads, self.world.ledger.head(game)):
            if number >= len(record.heads) or head != record.heads[number]:
                self.world.complain(f"P6 {game}: the head after entry {number} isn't that of its chain")

    def rewind(self) -> None:
        """The engine lost its latest writes: what is left of every log must be a prefix of what it was.
        Answers at levels that don't survive the loss no longer count as promises."""
        before, self.records = self.records, {}
        self.open.clear()
        for game, record in before.items():
            self.read(game)
            kept = self.records[game].stored if game in self.records else []
            if record.stored[: len(kept)] != kept:
                self.world.complain(f"P3 {game}: its log isn't a prefix of what it was")
        self.answers = [answer for answer in self.answers if answer.level == self.world.plan.losses]
        self.poison.clear()
        self.losses, self.lost_at = self.losses + 1, self.world.clock.now
        self.check_answers()

    def check_answers(self) -> None:
        """Complain of each acknowledged verdict that the log no longer has."""
        for answer in self.answers:
            record = self.records.get(answer.game)
            if answer.number and (
                record is None or record.verdicts.get((answer.seat, answer.id)) != answer.number
            ):
                self.world.complain(
                    f"P1 {answer.game}: {answer.id} was {answer.level} as {answer.number}, and is lost"
                )

    def over(self) -> bool:
        """Whether every game has ended, the announced play-offs too."""
        return not self.open and all(
            record.called is None or record.called.game in self.records for record in self.records.values()
        )

    # -- answers -------------------------------------------------------------------------

    def record_head(self, client: str, game: str, number: int, head: bytes) -> None:
        """A gateway sent a client the head after an entry."""
        self.sent_heads.append(SentHead(client, game, number, head))

    def record_answer(
        self, game: str, seat: Seat | None, id_: str, level: str, request: PendingRequest
    ) -> None:
        """Record an answer that a client got, unless the engine lost it on its way and its level
        doesn't survive the loss."""
        reply: Any = request.reply
        if self._outdated(request) and level != self.world.plan.losses:
            return
        if reply is not None:
            self.answers.append(Answer(game, seat, id_, level, reply.sequence, ""))
            if reply.entry is not None:
                self.record_head(id_, game, reply.entry.number, reply.entry.shown.head)
        elif request.problem is not None:
            number = request.problem.extensions.get("number", 0)
            assert isinstance(number, int)
            self.answers.append(Answer(game, seat, id_, level, number, request.problem.rule))

    def accepted_poison(self, id_: str, request: PendingRequest) -> None:
        """Record a command that breaks a referee: once accepted, it may not be lost either."""
        if request.reply is not None and not self._outdated(request):
            self.poison.add(id_)

    def _outdated(self, request: PendingRequest) -> bool:
        """Whether the engine lost writes after this answer left and before it arrived."""
        return request.losses < self.losses
