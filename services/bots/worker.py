"""The bots' shell: take notes from the turns stream, look, choose, send.

A note says which seat is to act as of which entry. The command's id is made of that
number, so a note that is delivered twice, to whichever worker, moves once.

A note whose command isn't taken now, or whose game can't be read now, waits for itself alone:
it is put off, and comes again. Only where nobody answers do all wait.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from schemas.codec import Corrupt
from schemas.commands import Command, Letter
from schemas.field_types import Seat
from services.bots.gateway_client import NotNow
from services.bots.policies import POLICIES
from services.bots.policies.random_source import Dice
from services.ledger import Full, Gap, Ledger, TakenTurn, Turn
from services.referee.rules import Table, fold_events, legal
from services.referee.rules.proof.view_verifier import Betrayed, Witness
from services.runtime.logging_setup import get_log
from services.runtime.worker_loop import BUGS, REFUSED

log = get_log("bots")
VIEWS_MOST: Final = 4_096
RECLAIM_IDLE_MS: Final = 2_000
RECLAIM_S: Final = 0.5  # that fresh notes wait for those that were left lying, of either kind
DELIVERIES_MOST: Final = 20  # a note that was handed out more often ends its workers, it seems
NO_LUCK: Final = "00" * 32
FAULTS: Final = (
    Corrupt,
    *BUGS,
)  # a damaged view's or a policy's; an engine that is away is no fault of theirs
NOT_NOW: Final = (Full, NotNow, REFUSED)  # one note waits for it, and no other


class Outlet(Protocol):
    """Where a bot's commands go: straight to the commands stream, or through the gateway."""

    def send(self, letter: Letter) -> None:
        """Hand the command in. Raises Full or NotNow where this one must wait, ConnectionError
        where all must."""


class Stream:
    """Straight to the commands stream."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def send(self, letter: Letter) -> None:
        """Hand the command in. Raises Full."""
        self.ledger.submit(letter)


class Eyes:
    """What one seat has seen of its game so far: checked, and folded."""

    __slots__ = ("moves", "table", "witness")

    def __init__(self, game: str, seat: Seat) -> None:
        self.table, self.witness = Table(), Witness(game, seat)
        self.moves = 0  # commands of this seat that got their verdict

    def look(self, ledger: Ledger) -> None:
        """See what is new. Raises Gap where the last that was seen isn't there any more, or has another
        head: a fail-over lost the log's end. Raises Betrayed where the house isn't to be believed."""
        game, seat = self.witness.game, self.witness.viewer
        while True:
            after = self.witness.number
            entries = ledger.seen(game, seat, max(0, after - 1))
            if after:
                known, *entries = entries or (None,)
                if known is None or known.shown.head not in (self.witness.head, b""):
                    raise Gap(f"view of {game}: entry {after} isn't what seat {seat} saw")
            if not entries:
                return
            for entry in entries:
                self.witness.see(entry)
                fold_events(self.table, entry.at, entry.events)
                self.moves += entry.answers is not None


class Bots:
    """One worker for all bots of all partitions. `clock` counts seconds and never jumps."""

    def __init__(
        self,
        ledger: Ledger,
        outlet: Outlet,
        name: str,
        batch: int = 64,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ledger, self.outlet, self.name, self.batch = ledger, outlet, name, batch
        self.clock = clock
        self.waits: dict[tuple[int, str], float] = {}  # until when a note isn't tried: a gateway's wish
        self.eyes: OrderedDict[tuple[str, Seat], Eyes] = OrderedDict()

    def step(self, block_ms: int = 500) -> int:
        """Deal with the next notes, waiting for one at most so long; how many there were."""
        taken = self.ledger.take_turns(self.name, self.batch, block_ms)
        self._answer(taken)
        return len(taken)

    def reclaim(self, idle_ms: int = RECLAIM_IDLE_MS) -> int:
        """Deal with what another worker took and left lying for so long, while fresh notes can
        wait; how many are dealt with. One that was handed out again and again is given up."""
        return self._reclaim_batches(idle_ms) + self._reclaim_suspects(idle_ms)

    def _reclaim_batches(self, idle_ms: int) -> int:
        until, count = self.clock() + RECLAIM_S, 0
        while done := self._answer(self.ledger.reclaim_turns(self.name, idle_ms)):
            count += done
            if self.clock() > until:
                break
        return count

    def _reclaim_suspects(self, idle_ms: int) -> int:
        """Each alone: one of them may end this worker, and the others aren't counted for it."""
        until, count = self.clock() + RECLAIM_S, 0
        for note in self.ledger.suspect_turns(self.name, idle_ms):
            if note.deliveries > DELIVERIES_MOST:
                log.error("note given up", **_about(note.turn), deliveries=note.deliveries)
                self.ledger.finish_turns([note])
            else:
                count += self._answer([note])
            if self.clock() > until:
                break
        return count

    def _answer(self, taken: Sequence[TakenTurn]) -> int:
        """How many of these notes are dealt with; the others come again, and aren't counted as
        handed out now."""
        now = self.clock()
        self.waits = {note: until for note, until in self.waits.items() if until > now}
        done: list[TakenTurn] = []
        later: list[TakenTurn] = []
        left, why = deque(taken), ""
        try:
            while left:
                if not_now := self._attend(left[0]):
                    why = not_now
                (later if not_now else done).append(left[0])
                left.popleft()
            if later:
                log.warning("notes wait", count=len(later), why=why)
        except ConnectionError:
            later.extend(left)
            raise
        finally:  # what was sent before the gateway went away isn't sent again
            if done:
                self.ledger.finish_turns(done)
            if later:
                self.ledger.put_off_turns(later)
        return len(done)

    def _attend(self, note: TakenTurn) -> str:
        """Do what a note asks for; or say why it must wait."""
        if (note.partition, note.id) in self.waits:
            return "its gateway said so"
        try:
            self._act(note.turn)
        except NOT_NOW as error:
            if isinstance(error, NotNow):
                self.waits[note.partition, note.id] = self.clock() + error.retry_after_s
            return str(error) or "not now"
        return ""

    def _act(self, turn: Turn) -> None:
        command = self._decide(turn)
        if command is not None:
            letter = Letter(f"bot:{turn.number}", turn.game, turn.seat, command)
            about = {"game": turn.game, "seat": turn.seat, "command": letter.id, "sequence": turn.number}
            log.debug("bot acts", **about, type=command.type)
            self.outlet.send(letter)

    def _decide(self, turn: Turn) -> Command | None:
        """The policy's choice. Where it fails even with fresh eyes, the first legal command,
        so that the game goes on; where there is no telling what is legal, nothing."""
        about = _about(turn)
        for choose in (self.choose, self.choose, self.first):
            try:
                return choose(turn)
            except Gap as gone:  # a fail-over may have taken what was seen: look anew
                log.warning("bot looks anew", **about, why=str(gone))
            except Betrayed as betrayed:  # it won't play on what it can't believe
                log.error("THE HOUSE IS NOT TO BE BELIEVED", **about, entry=betrayed.number, why=betrayed.why)
            except FAULTS:
                log.exception("bot can't choose", **about)
            self.eyes.pop((turn.game, turn.seat), None)
        log.error("note given up", **about)
        return None

    def choose(self, turn: Turn) -> Command | None:
        """What the seat's policy does now; None if the note is old and nothing is to do."""
        eyes, commands = self._look(turn)
        if not commands:
            return None
        dice = Dice(eyes.table.places[turn.seat].luck or NO_LUCK, eyes.moves)
        return POLICIES[turn.policy](eyes.table, turn.seat, commands, dice)

    def first(self, turn: Turn) -> Command | None:
        """The first legal command, whatever the policy."""
        _, commands = self._look(turn)
        return commands[0] if commands else None

    def _look(self, turn: Turn) -> tuple[Eyes, list[Command]]:
        """The seat's table as of now, and what it may do there."""
        eyes = self._eyes(turn.game, turn.seat)
        eyes.look(self.ledger)
        return eyes, legal(eyes.table, turn.seat)

    def _eyes(self, game: str, seat: Seat) -> Eyes:
        eyes = self.eyes.pop((game, seat), None) or Eyes(game, seat)
        self.eyes[game, seat] = eyes
        if len(self.eyes) > VIEWS_MOST:
            self.eyes.popitem(last=False)
        return eyes


def _about(turn: Turn) -> dict[str, object]:
    return {"game": turn.game, "seat": turn.seat, "sequence": turn.number, "policy": turn.policy}
