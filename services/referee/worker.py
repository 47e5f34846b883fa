"""The referee's shell: take letters, fold, decide, append. It keeps nothing it can't refold.

A step may be cut off anywhere. A letter stays pending until the script that writes its
verdict also acknowledges it, so a letter that was cut off is taken again, by this referee
or another; the log's length and the command ids make the second time harmless.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from schemas.codec import Corrupt, pack_entry, pack_part, pack_public, unpack_letter
from schemas.commands import CallTime, Letter
from schemas.contract import Malformed
from schemas.events import CommandRefused, Event, GameCreated, GameEnded, GameStarted, SeatGone
from schemas.views import Entry
from schemas.words import Seat
from services.ledger import Gap, Ledger, Taken, Turn, Verdict
from services.logs import get_log
from services.loop import BUGS
from services.referee.following import due_at, follow
from services.referee.rules import NotKept, faces, judge
from services.referee.sitting import Sitting

log = get_log("referee")
SITTINGS_MOST: Final = 4_096
RECLAIM_IDLE_MS: Final = 3_000


class Decision(NamedTuple):
    """A verdict, ready to be written, and what it is about."""

    verdict: Verdict
    letter: Letter
    events: tuple[Event, ...]


class Dismissal(NamedTuple):
    """A letter that gets no entry, as the table stood when it was decided."""

    taken: Taken
    letter: Letter
    rule: str
    why: str


class Referee:
    """One worker over all partitions. `clock` gives milliseconds since 1970, `seeds` 64 hex
    digits that nobody can guess."""

    def __init__(
        self,
        ledger: Ledger,
        partition_of: Callable[[str], int],
        name: str,
        clock: Callable[[], int],
        seeds: Callable[[], str],
        batch: int = 128,
    ) -> None:
        self.ledger, self.name, self.batch = ledger, name, batch
        self.partition_of, self.clock, self.seeds = partition_of, clock, seeds
        self.sittings: OrderedDict[str, Sitting] = OrderedDict()

    def step(self, block_ms: int = 500) -> int:
        """Answer the next letters, waiting for one at most so long; how many were taken."""
        taken = self.ledger.take(self.name, self.batch, block_ms)
        self.answer(taken)
        return len(taken)

    def reclaim(self, idle_ms: int = RECLAIM_IDLE_MS) -> int:
        """Answer what another referee took and left unanswered for so long."""
        taken = self.ledger.reclaim(self.name, idle_ms)
        self.answer(taken)
        return len(taken)

    def call_time(self) -> int:
        """Put down the house's own commands that are due: for every clock that has run out, and
        for every play-off that is to go on."""
        due = self.ledger.due(self.clock())
        for game, _ in due:
            try:
                self._call_time(game)
            except (Gap, Corrupt, *BUGS):  # this game must not stop the others' clocks
                log.exception("clock broke", game=game)
                self.sittings.pop(game, None)
        return len(due)

    def answer(self, taken: list[Taken]) -> None:
        """Decide these letters and write the verdicts, again and again until none conflicts."""
        while taken:
            decided = [found for letter in taken if (found := self._decide(letter))]
            taken = self._append([found for found in decided if isinstance(found, Decision)])
            for found in decided:
                if isinstance(found, Dismissal) and not self._dismiss(found):
                    taken.append(found.taken)

    # -- one letter --------------------------------------------------------------------

    def _decide(self, taken: Taken) -> Decision | Dismissal | None:
        """The verdict on a letter, or why the log has no place for one; None if it is buried."""
        try:
            letter = unpack_letter(taken.data)
        except Malformed as error:
            log.warning("letter buried", partition=taken.partition, reason=str(error))
            self.ledger.bury(taken, str(error))
            return None
        try:
            return self._judge(taken, letter)
        except NotKept as no:
            return Dismissal(taken, letter, no.rule, no.why)
        except (Gap, Corrupt) as error:
            self._bury(taken, letter, f"the log can't be read: {error}")
        except BUGS as error:
            # A bug of ours: this letter must not stop the others, nor be tried for ever.
            log.exception("decision broke", **_about(letter))
            self._bury(taken, letter, f"{type(error).__name__}: {error}")
        return None

    def _dismiss(self, found: Dismissal) -> bool:
        """Answer a letter without an entry, unless it was decided on a table that the log has
        left behind: no script checks a dismissal. False if it must be decided again."""
        taken, letter, rule, why = found
        if not self._in_step(letter.game):
            return False
        log.info("command dismissed", **_about(letter), rule=rule, why=why)
        self.ledger.dismiss(taken, letter, rule, why)
        return True

    def _bury(self, taken: Taken, letter: Letter, reason: str) -> None:
        self.sittings.pop(letter.game, None)
        log.error("letter buried", **_about(letter), reason=reason)
        if taken.id:  # the clock's own letters lie in no stream
            self.ledger.bury(taken, reason)

    def _judge(self, taken: Taken, letter: Letter) -> Decision:
        sitting = self._sitting(letter.game)
        table = sitting.table
        if (letter.seat, letter.id) in sitting.answered:
            return _repeat(taken, letter)
        waited_for = set(table.awaits)
        events = judge(table, letter, self.clock(), self.seeds())
        at = table.at
        turned = faces(events)
        rows = turned.private
        if letter.seat is not None:
            rows = {**rows, letter.seat: rows.get(letter.seat, {})}  # its command's id is its own
        parts = [
            (seat, pack_part(sitting.parts.get(seat, 0), letter.id if seat == letter.seat else None, own))
            for seat, own in rows.items()
        ]
        expected = sitting.length
        sitting.count(letter.seat, letter.id, rows)
        entry = Entry(at, letter.id, letter.seat, letter.command, events)
        verdict = Verdict(
            taken,
            letter.game,
            expected,
            letter.seat,
            letter.id,
            table.created + at,
            pack_entry(entry, turned),
            pack_public(at, turned),
            parts,
            self._turns(letter, sitting, waited_for),
            due_at(table),
        )
        return Decision(verdict, letter, events)

    def _turns(self, letter: Letter, sitting: Sitting, waited_for: set[Seat]) -> list[Turn]:
        """Notes to the bots that this entry asks to act: newly, or once more."""
        places, turns = sitting.table.places, []
        for seat in sitting.table.awaits:
            policy = places[seat].policy
            if policy is not None and (seat not in waited_for or seat == letter.seat):
                turns.append(Turn(letter.game, seat, sitting.length, policy))
        return turns

    def _call_time(self, game: str) -> None:
        self._in_step(game)  # else a deadline that is none any more would be put back
        table = self._sitting(game).table
        moment, deadline = due_at(table), table.next_deadline()
        if moment is None or moment > self.clock():
            self.ledger.set_due(game, moment)
        elif deadline is not None:
            self._say_time(game, deadline[1])
        elif follow(self.ledger, table):
            self.ledger.set_due(game, None)
            self.sittings.pop(game, None)

    def _say_time(self, game: str, seat: Seat) -> None:
        sitting = self._sitting(game)
        letter = Letter(f"clock:{sitting.length}:{seat}", game, None, CallTime(seat))
        taken = Taken(self.partition_of(game), "", b"")
        try:
            self._append([self._judge(taken, letter)])
        except NotKept as no:
            log.warning("clock not kept", **_about(letter), rule=no.rule, why=no.why)

    # -- the log -----------------------------------------------------------------------

    def _append(self, decisions: list[Decision]) -> list[Taken]:
        """Write the verdicts. What conflicts with another referee's comes back, to be decided
        again; a game whose cached table ran ahead of its log is forgotten."""
        try:
            outcomes = self.ledger.append([decision.verdict for decision in decisions])
        except BaseException:
            for decision in decisions:  # nobody knows which were written: refold them all
                self.sittings.pop(decision.letter.game, None)
            raise
        again = []
        for decision, (kind, number) in zip(decisions, outcomes, strict=True):
            taken, letter = decision.verdict.taken, decision.letter
            if kind == "appended":
                _tell(decision, number)
                if any(isinstance(event, GameEnded) for event in decision.events):
                    self.sittings.pop(letter.game, None)  # little more will be asked of it
            elif kind == "damaged":
                self._bury(taken, letter, f"the log's end is damaged: it takes no entry {number + 1}")
            elif kind == "conflict" or decision.verdict.expected >= 0:
                self.sittings.pop(letter.game, None)
            if kind == "conflict" and taken.id:
                again.append(taken)
        return again

    def _in_step(self, game: str) -> bool:
        """Whether the remembered table stands where the log does; forgotten if it doesn't."""
        sitting = self.sittings.get(game)
        if sitting is None:
            return False
        after = max(0, sitting.length - 1)  # its last entry too: a log may have lost its end
        try:
            if len(self.ledger.history(game, after)) == sitting.length - after:
                return True
        except Gap:
            pass
        del self.sittings[game]
        return False

    def _sitting(self, game: str) -> Sitting:
        """The game as its log has it, folded now or remembered."""
        sitting = self.sittings.get(game)
        if sitting is None:
            sitting = Sitting()
            sitting.read(self.ledger.history(game))
            self.sittings[game] = sitting
            if len(self.sittings) > SITTINGS_MOST:
                self.sittings.popitem(last=False)
        else:
            self.sittings.move_to_end(game)
        return sitting


def _repeat(taken: Taken, letter: Letter) -> Decision:
    """For an id that has its verdict: the script finds it and only acknowledges the letter."""
    verdict = Verdict(taken, letter.game, -1, letter.seat, letter.id, 0, b"", b"", (), (), None)
    return Decision(verdict, letter, ())


def _about(letter: Letter) -> dict[str, object]:
    return {"game": letter.game, "seat": letter.seat, "command": letter.id, "type": letter.command.type}


def _tell(decision: Decision, number: int) -> None:
    """One line an entry: moves at debug level, what an operator looks for at info."""
    letter, events = decision.letter, decision.events
    about = {**_about(letter), "sequence": number}
    refused = next((event for event in events if isinstance(event, CommandRefused)), None)
    if refused:
        log.info("command refused", **about, rule=refused.rule, why=refused.why)
    for event in events:
        if isinstance(event, GameCreated | GameStarted | SeatGone | GameEnded):
            log.info(event.type.replace("_", " "), **about)
    log.debug("move", **about, events=[event.type for event in events])
