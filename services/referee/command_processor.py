"""Where letters are decided: fold, judge, append, until every letter has its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from schemas.codec import Corrupt, unpack_letter
from schemas.commands import CallTime, CreateGame, ForkGame, Letter
from schemas.contract import Malformed
from schemas.entries import Entry
from schemas.events import CommandRefused, Event, GameCreated, GameEnded, GameStarted, SeatGone
from schemas.field_types import Seat
from schemas.refusals import Refused
from services.archive import ArchiveAway
from services.ledger import Gap, Ledger, Taken, Turn, Verdict
from services.referee.game_cache import Sitting, Sittings
from services.referee.rules import NotKept, judge
from services.referee.rules.proof.sealing import Past, seal
from services.referee.rules.setup.fork import creation
from services.referee.scheduling import calls, due_at
from services.runtime.logging_setup import get_log
from services.runtime.worker_loop import BUGS

log = get_log("referee")
TOLD_MOST: Final = 64
STUCK_MOST: Final = 3
REPEATED: Final = -1  # expected by a letter whose verdict is in the log already
DAY_MS: Final = 86_400_000


class Times(NamedTuple):
    """The clocks that a referee goes by: milliseconds of the house's time, which decides, and
    of the wall clock since 1970, which is only written down; and how long a game stays that
    isn't being played."""

    house: Callable[[], int]
    wall: Callable[[], int]
    stays_ms: int = 30 * DAY_MS


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


class Desk:
    """Decides and writes. It keeps nothing it can't refold."""

    def __init__(
        self,
        ledger: Ledger,
        times: Times,
        seeds: Callable[[], str],
        remembers_bytes: int,
        origins: Callable[[str], Sequence[bytes]] | None = None,
    ) -> None:
        self.ledger, self.times, self.seeds = ledger, times, seeds
        self.origins = origins or ledger.history  # where the logs are that forks go on from
        self.sittings = Sittings(ledger, frozen_bytes_most=remembers_bytes)
        self._told: set[object] = set()  # where decisions broke

    def answer(self, taken: Sequence[Taken]) -> None:
        """Decide these letters and write the verdicts, again and again until none conflicts."""
        stuck: Counter[tuple[int, str]] = Counter()
        while taken:
            letters = [(each, letter) for each in taken if (letter := self._read(each))]
            self.sittings.recall(list(dict.fromkeys(letter.game for _, letter in letters)))
            decided = [found for each, letter in letters if (found := self._decide(each, letter))]
            again = self._append([found for found in decided if isinstance(found, Decision)], stuck)
            for found in decided:
                if isinstance(found, Dismissal) and not self._dismiss(found):
                    again.append(found.taken)
            taken = again

    def say_time(self, game: str, seat: Seat) -> None:
        """Decide that a seat's time is over. Another referee may say so first: that is as good."""
        letter = Letter(f"clock:{self.sittings.of(game).length}:{seat}", game, None, CallTime(seat))
        try:
            self.say(letter)
        except NotKept as no:
            log.warning("clock not kept", **_about(letter), rule=no.rule, why=no.why)

    def say(self, letter: Letter) -> None:
        """Decide a letter of the house's own, which lies in no stream. Raises NotKept."""
        taken = Taken(self.ledger.partition_of(letter.game), "", b"")
        self._append([self._judge(taken, letter)], Counter())

    def bury(self, taken: Taken, reason: str) -> None:
        """Put a letter aside for an operator."""
        try:
            self._bury(taken, unpack_letter(taken.data), reason)
        except Malformed as error:
            log.error("letter buried", partition=taken.partition, reason=reason, error=str(error))
            self.ledger.bury(taken, None, reason)

    # -- one letter --------------------------------------------------------------------

    def _read(self, taken: Taken) -> Letter | None:
        """The letter; None if it can't be read, and is buried."""
        try:
            return unpack_letter(taken.data)
        except Malformed as error:
            self.bury(taken, str(error))
            return None

    def _decide(self, taken: Taken, letter: Letter) -> Decision | Dismissal | None:
        """The verdict on a letter, or why the log has no place for one; None if it is buried, because
        the decision broke on the table at hand, and on one folded anew."""
        reason = ""
        for trying in (nullcontext, self.sittings.spared):
            try:
                with trying(letter.game):
                    return self._judge(taken, letter)
            except NotKept as no:
                return Dismissal(taken, letter, no.rule, no.why)
            except (Gap, Corrupt) as error:
                reason = f"the log can't be read: {error}"
            except BUGS as error:  # ours: this letter must not stop the others, nor be tried for ever
                reason = f"{type(error).__name__}: {error}"
                log.warning("decision broke", **_about(letter), why=reason, exc_info=self._is_news(error))
            if trying is nullcontext:
                self.sittings.forget(letter.game)
        self._bury(taken, letter, reason)
        return None

    def _is_news(self, error: Exception) -> bool:
        """Whether this break, of this kind at this place, wasn't told lately: a flood of letters that
        break one line is told once, with its traceback."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = type(error), trace and (trace.tb_frame.f_code, trace.tb_lineno)
        if place in self._told:
            return False
        if len(self._told) >= TOLD_MOST:
            self._told.clear()
        self._told.add(place)
        return True

    def _dismiss(self, found: Dismissal) -> bool:
        """Answer a letter without an entry, unless it was decided on a table that the log has
        left behind: no script checks a dismissal. False if it must be decided again."""
        taken, letter, rule, why = found
        if not self.sittings.in_step(letter.game):
            return False
        log.info("command dismissed", **_about(letter), rule=rule, why=why)
        self.ledger.dismiss(taken, letter, rule, why)
        return True

    def _bury(self, taken: Taken, letter: Letter, reason: str) -> None:
        log.error("letter buried", **_about(letter), reason=reason)
        if taken.id:  # the clock's own letters lie in no stream
            self.ledger.bury(taken, letter, reason)

    def _judge(self, taken: Taken, letter: Letter) -> Decision:
        sitting = self.sittings.of(letter.game)
        table = sitting.table
        if sitting.has_answered(letter.seat, letter.id):
            return _repeat(taken, letter)
        waited_for = set(table.awaits)
        now = self.times.wall()
        seed = self.seeds() if isinstance(letter.command, CreateGame | ForkGame) else ""
        letter = self._looked_up(letter, seed)
        events = judge(table, letter, self.times.house(), seed, created=now)
        past = Past(sitting.length, sitting.head, sitting.parts)
        entry = Entry(table.at, letter.id, letter.seat, letter.command, events)
        sealed = seal(table, past, sitting.piles, entry)
        before = sitting.head
        sitting.count(letter.seat, letter.id, [seat for seat, _ in sealed.parts])
        sitting.tail, sitting.head = sealed.entry, sealed.head
        verdict = Verdict(
            taken,
            letter.game,
            past.number,
            before,
            letter.seat,
            letter.id,
            now,
            sealed.entry,
            sealed.public,
            sealed.head,
            sealed.parts,
            _turns(letter, sitting, waited_for),
            due_at(table),
            _leaves(events, now + self.times.stays_ms),
        )
        return Decision(verdict, letter, events)

    def _looked_up(self, letter: Letter, seed: str) -> Letter:
        """The letter; a wish for a fork holds the table that was found in the other game's log."""
        wish = letter.command
        if not isinstance(wish, ForkGame):
            return letter
        try:
            return replace(letter, command=creation(self.origins(wish.of), wish, seed))
        except Refused as no:
            raise NotKept(no.rule, no.why) from None
        except ArchiveAway as error:
            log.error("archive unavailable", game=wish.of, error=str(error))
            raise NotKept("WAIT-1", f"game {wish.of} can't be read now; ask again in a minute") from None

    def _append(self, decisions: Sequence[Decision], stuck: Counter[tuple[int, str]]) -> list[Taken]:
        """Write the verdicts. What conflicts with another referee's comes back, to be decided
        again; a game whose remembered table ran ahead of its log is forgotten. Where the engine
        goes away amid this, tables stay that may be ahead: the next verdict on them conflicts.

        `stuck` counts the letters that conflicted though nobody else wrote: their game is damaged
        if that goes on when it was folded anew."""
        outcomes = self.ledger.append([decision.verdict for decision in decisions])
        again = []
        for decision, (outcome, number) in zip(decisions, outcomes, strict=True):
            verdict, letter, kind = decision.verdict, decision.letter, outcome
            if kind == "conflict" and verdict.expected in {number, REPEATED}:
                place = verdict.taken.partition, verdict.taken.id  # every partition has ids of its own
                stuck[place] += 1
                kind = kind if stuck[place] < STUCK_MOST else "damaged"
            if kind == "appended":
                _tell(decision, number)
                if any(isinstance(event, GameEnded) for event in decision.events):
                    self.sittings.forget(letter.game)  # little more will be asked of it
            elif kind == "damaged":
                self._bury(
                    verdict.taken, letter, f"the game's keys don't fit each other after entry {number}"
                )
            elif kind == "conflict" or verdict.expected >= 0:
                self.sittings.forget(letter.game)
            if kind == "conflict" and verdict.taken.id:
                again.append(verdict.taken)
        return again


def _turns(letter: Letter, sitting: Sitting, waited_for: set[Seat]) -> list[Turn]:
    """Notes to the bots that this entry asks to act: newly, or once more."""
    notes = calls(sitting.table, sitting.length)
    return [note for note in notes if (note.seat not in waited_for or note.seat == letter.seat)]


def _leaves(events: Sequence[Event], later: int) -> int | Literal["as before"] | None:
    """When the game may leave, after these events: later, where nobody plays it (yet, or any more)."""
    for event in reversed(events):
        if isinstance(event, GameCreated | GameEnded):
            return later
        if isinstance(event, GameStarted):
            return None
    return "as before"


def _repeat(taken: Taken, letter: Letter) -> Decision:
    """For an id that has its verdict: the script finds it and only acknowledges the letter."""
    verdict = Verdict(
        taken, letter.game, REPEATED, b"", letter.seat, letter.id, 0, b"", b"", b"", (), (), None
    )
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
