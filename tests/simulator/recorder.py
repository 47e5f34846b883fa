"""Somebody outside who reads the engine as it is, writes down every entry when it comes, and
every answer that was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from schemas.codec import unpack_entry
from schemas.entries import Entry
from schemas.events import PlayOffCalled
from schemas.field_types import Seat
from schemas.hash_chain import initial_head, next_head
from services.ledger import keys
from services.ledger.replies import parse_public_entries
from services.referee.rules import GameState, fold_events
from tests.simulator.agenda import NEVER
from tests.simulator.chains import Handed
from tests.simulator.gateways import Errand
from tests.simulator.network import Call

if TYPE_CHECKING:
    from tests.simulator.world import World


class Told(NamedTuple):
    """An answer that a client was given: the verdict on its command."""

    game: str
    seat: Seat | None
    id: str
    level: str
    number: int  # 0 where it is only accepted, or got no entry
    rule: str  # '' where it was accepted


class Record:
    """One game's log as it was written, and the table that follows from it."""

    def __init__(self, game: str) -> None:
        self.game, self.table = game, GameState()
        self.stored: list[bytes] = []
        self.heads = [initial_head(game)]  # after each entry, from before the first on
        self.entries: list[Entry] = []
        self.verdicts: dict[tuple[Seat | None, str], int] = {}
        self.called: PlayOffCalled | None = None


class Recorder:
    def __init__(self, world: World) -> None:
        self.world = world
        self.records: dict[str, Record] = {}
        self.read_at = -NEVER  # when an entry came last
        self.lost_at = -NEVER  # when the engine lost something last
        self.losses = 0  # how often it did
        self.open: set[str] = set()  # games that haven't ended
        self.heads: set[tuple[str, int, bytes]] = set()  # all that there ever were, lost ones too
        self.handed: list[Handed] = []
        self.answers: list[Told] = []
        self.poison: set[str] = set()  # ids of what was accepted and can't be judged
        self.dismissed: set[str] = set()  # keys where senders found why there is no entry

    # -- logs ----------------------------------------------------------------------------

    def look(self, calls: Sequence[Call]) -> None:
        """A message was carried out: read on in every log that it names."""
        for call in calls:
            for word in call[2:6]:
                if not isinstance(word, str):
                    continue
                if word.endswith(":log"):
                    self.read(word.split(":g:")[1].removesuffix(":log"))
                elif ":dismissed:" in word and self.world.peek.exists(word):
                    self.dismissed.add(word)

    def read(self, game: str) -> None:
        """Write down what is new in a game's log: numbered on, or it is complained of."""
        record = self.records.get(game) or Record(game)
        number = len(record.stored)
        new = self.world.entries(keys.log(self.world.partition_of(game), game), number)
        for id_, data in new:
            number += 1
            if id_ != number:
                self.world.complain(f"P3 {game}: entry {id_} where {number} is next")
            self._take(record, data)
        if new:
            self._chain(record)
            self.records[game] = record
            self.open.add(game)
            self.read_at = self.world.clock.now
            if record.table.result:
                self.open.discard(game)

    def _take(self, record: Record, data: bytes) -> None:
        entry = unpack_entry(data)
        record.stored.append(data)
        record.entries.append(entry)
        fold_events(record.table, entry.at, entry.events)
        said = (entry.seat, entry.id)
        if said in record.verdicts:
            self.world.complain(f"P2 {record.game}: {said} has two verdicts, {record.verdicts[said]} and now")
        record.verdicts[said] = len(record.stored)
        for event in entry.events:
            if isinstance(event, PlayOffCalled):
                record.called = event

    def _chain(self, record: Record) -> None:
        """The heads that follow from the public entries must be those that stand beside them."""
        name = keys.public_view(self.world.partition_of(record.game), record.game)
        for number, public, head in parse_public_entries(
            self.world.peek.xrange(name, f"{len(record.heads)}-0")
        ):
            record.heads.append(next_head(record.heads[-1], number, public))
            self.heads.add((record.game, number, head))
            if head != record.heads[-1]:
                self.world.complain(
                    f"P6 {record.game}: the head after entry {number} isn't that of its chain"
                )

    def rewind(self) -> None:
        """The engine lost its latest writes: what is left of every log must be what it was. What
        was promised at a level that doesn't outlive this is promised no more."""
        before, self.records = self.records, {}
        self.open.clear()
        for game, record in before.items():
            self.read(game)
            kept = self.records[game].stored if game in self.records else []
            if record.stored[: len(kept)] != kept:
                self.world.complain(f"P3 {game}: its log isn't the beginning of what it was")
        self.answers = [told for told in self.answers if told.level == self.world.plan.losses]
        self.poison.clear()
        self.losses, self.lost_at = self.losses + 1, self.world.clock.now
        self.still_kept()

    def still_kept(self) -> None:
        for told in self.answers:
            record = self.records.get(told.game)
            if told.number and (record is None or record.verdicts.get((told.seat, told.id)) != told.number):
                self.world.complain(
                    f"P1 {told.game}: {told.id} was {told.level} as {told.number}, and is lost"
                )

    def over(self) -> bool:
        """Whether every game that was laid has ended, and every one that is to follow too."""
        return not self.open and all(
            record.called is None or record.called.game in self.records for record in self.records.values()
        )

    # -- answers -------------------------------------------------------------------------

    def handed_out(self, who: str, game: str, number: int, head: bytes) -> None:
        """A gateway sent a client the head after an entry."""
        self.handed.append(Handed(who, game, number, head))

    def told(self, game: str, seat: Seat | None, id_: str, level: str, errand: Errand) -> None:
        """A client was given an answer: it holds for ever, if its level outlives what was lost
        while it was on its way."""
        reply: Any = errand.reply
        if self._outdated(errand) and level != self.world.plan.losses:
            return
        if reply is not None:
            self.answers.append(Told(game, seat, id_, level, reply.sequence, ""))
            if reply.entry is not None:
                self.handed_out(id_, game, reply.entry.number, reply.entry.shown.head)
        elif errand.problem is not None:
            number = errand.problem.extensions.get("number", 0)
            assert isinstance(number, int)
            self.answers.append(Told(game, seat, id_, level, number, errand.problem.rule))

    def accepted_poison(self, id_: str, errand: Errand) -> None:
        """A client sent what breaks a referee. Where it was accepted, it isn't lost all the same."""
        if errand.reply is not None and not self._outdated(errand):
            self.poison.add(id_)

    def _outdated(self, errand: Errand) -> bool:
        """Whether the engine lost something after this answer left, and before it came."""
        return errand.losses < self.losses
