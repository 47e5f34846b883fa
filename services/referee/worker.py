"""The referee's shell: take letters, decide, append; fire what is due; let old games go.

A step may be cut off anywhere. A letter stays pending until the script that writes its
verdict also acknowledges it, so a letter that was cut off is taken again, by this referee
or another; the log's last entry and the command ids make the second time harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from schemas.codec import Corrupt
from services.ledger import Gap, Ledger, Taken
from services.referee.command_processor import Desk, Times
from services.referee.game_cache import FROZEN_BYTES_MOST
from services.referee.scheduling import SILENT_MS, calls, due_at, follow
from services.runtime.logging_setup import get_log
from services.runtime.worker_loop import AWAY, BUGS

log = get_log("referee")
RECLAIM_IDLE_MS: Final = 2_000
DELIVERIES_MOST: Final = 8  # a letter that was handed out more often broke its referees, it seems
GONE_MS: Final = 600_000  # a consumer with nothing in hand is forgotten after this
LETTERS_MOST: Final = 2_048  # that are taken at once, of all partitions together
CHORE_MS: Final = 500  # that letters wait for a chore
LATER_MS: Final = 30_000  # before a game that breaks a chore is looked at again
UNARCHIVED_MS: Final = 600_000  # before a game that isn't in the archive yet is looked at again
FOLLOW_MS: Final = 500  # between two looks for the next game of a play-off


class Referee:
    """One worker. `times` are its clocks, `seeds` gives 64 hex digits that nobody can guess,
    `looks_after` the partitions that are its own to look after just now; `remembers_bytes` of
    games that were not asked for lately stay folded; `origins` gives the logs that forks go on from
    (else the ledger does). Where there is an archive, `archived` tells how
    many entries of a game it has, and a game that is over stays until those are all."""

    def __init__(
        self,
        ledger: Ledger,
        name: str,
        times: Times,
        seeds: Callable[[], str],
        looks_after: Callable[[], Sequence[int]],
        batch: int = 128,
        deliveries_most: int = DELIVERIES_MOST,
        remembers_bytes: int = FROZEN_BYTES_MOST,
        archived: Callable[[str], int] | None = None,
        origins: Callable[[str], Sequence[bytes]] | None = None,
    ) -> None:
        self.ledger, self.name, self.times, self.deliveries_most = ledger, name, times, deliveries_most
        self.looks_after, self.batch, self.archived = looks_after, batch, archived
        self.desk = Desk(ledger, times, seeds, remembers_bytes, origins)

    def step(self, block_ms: int = 500) -> int:
        """Answer the next letters, waiting for one at most so long; how many were taken. No more
        than it can answer before others take it for dead."""
        partitions = self.looks_after()
        count = min(self.batch, max(1, LETTERS_MOST // max(1, len(partitions))))
        taken = self.ledger.take(self.name, partitions, count, block_ms)
        for start in range(0, len(taken), self.batch):
            self.desk.answer(taken[start : start + self.batch])
        return len(taken)

    def reclaim(self, idle_ms: int = RECLAIM_IDLE_MS) -> int:
        """Answer what another referee took and left unanswered for so long; how many letters
        there were. One that was handed out again and again is decided alone, or given up."""
        began, count = self.times.house(), 0
        while taken := self.ledger.reclaim(self.name, self.looks_after(), idle_ms):
            count += len(taken)
            self.desk.answer(taken)
            if self.times.house() - began > CHORE_MS:
                return count
        for suspect in self.ledger.suspects(self.name, self.looks_after(), idle_ms):
            count += 1
            if not self._given_up(suspect):
                self.desk.answer([suspect])
            if self.times.house() - began > CHORE_MS:
                break
        return count

    def _given_up(self, taken: Taken) -> bool:
        """Bury a letter that was handed out so often that it seems to end whoever decides it."""
        if taken.deliveries <= self.deliveries_most:
            return False
        self.desk.bury(taken, f"it was handed out {taken.deliveries} times and never answered")
        return True

    def call_time(self) -> int:
        """Put down the house's own commands that are due: for every clock that has run out, and
        for every play-off that is to go on; how many games were looked at."""
        due = self.ledger.due(self.times.house(), self.looks_after())
        return self._each([game for game, _ in due], self._call_time)

    def retire(self) -> int:
        """Let games go that ended long ago, or were never started; how many were looked at."""
        return self._each(self.ledger.leaving(self.times.wall(), self.looks_after()), self._retire)

    def sweep(self) -> int:
        """Forget consumers of workers that went long ago; how many."""
        return self.ledger.sweep(self.looks_after(), GONE_MS)

    def _each(self, games: Iterable[str], do: Callable[[str], None]) -> int:
        """Do it for each of these games, for as long as letters can wait. One game's damage must
        not stop what is to be done for the others; nor one that lies where nobody answers."""
        began, count = self.times.house(), 0
        away: list[Exception] = []
        for game in games:
            count += 1
            try:
                do(game)
            except (Gap, Corrupt, *BUGS):
                log.exception("chore broke", game=game)
                self.desk.sittings.forget(game)
            except AWAY as error:
                away.append(error)
            if self.times.house() - began > CHORE_MS or len(away) > 1:
                break
        if away:
            raise away[0]
        return count

    def _call_time(self, game: str) -> None:
        # Until it is done the game is due later: what ends this referee must not end the next one
        # at once. What is written down for the game says anew when it is due.
        self.ledger.set_due(game, self.times.house() + LATER_MS)
        self.desk.sittings.in_step(game)  # else a deadline that is none any more would be put back
        sitting = self.desk.sittings.of(game)
        table, now = sitting.table, self.times.house()
        moment, deadline = due_at(table), table.next_deadline()
        if moment is None or moment > now:
            self.ledger.set_due(game, moment)
        elif table.called is not None:
            done = follow(self.ledger, table)
            self.ledger.set_due(game, None if done else now + FOLLOW_MS)
        elif deadline is not None and table.opened + deadline[0] <= now:
            self.desk.say_time(game, deadline[1])
        else:  # an engine that went down may have lost the bot's command after its note was done with
            self.ledger.call(calls(table, sitting.length))
            again = now + SILENT_MS
            self.ledger.set_due(game, min(again, table.opened + deadline[0]) if deadline else again)

    def _retire(self, game: str) -> None:
        self.ledger.stay(game, self.times.wall() + LATER_MS)
        self.desk.sittings.in_step(game)
        sitting = self.desk.sittings.of(game)
        table = sitting.table
        if table.started and not table.over:
            self.ledger.stay(game, None)
        elif self.ledger.is_due(game):
            pass  # its play-off is still to come
        elif table.over and self.archived is not None and self.archived(game) != sitting.length:
            self.ledger.stay(game, self.times.wall() + UNARCHIVED_MS)  # the archive's mark says otherwise
        elif self.ledger.retire(game, len(table.places), sitting.length):
            log.info("game retired", game=game, sequence=sitting.length)
        self.desk.sittings.forget(game)
