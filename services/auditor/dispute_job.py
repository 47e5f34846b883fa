"""Disputes: a move that somebody doubts is looked at, and the answer kept with the game.

While a game runs a seat is told what follows from its own view (`sighting`). That answer is written before
anything hidden is read; then the whole game is audited for the operator, who alone learns of it. Once the
game is over, every dispute in it gets the whole audit, whoever raised it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from schemas.codec import Corrupt, unpack_entry
from schemas.commands import Command
from schemas.disputes import FAILED, LOOKING, LOST, TOLD, WHOLE, Name, pack_answer, read_name
from schemas.entries import ViewEntry
from services.archive import ArchiveAway
from services.auditor.jobs import Jobs, Tools, kind
from services.auditor.recheck_throttle import Rests
from services.ledger import Gap, RedisLedger, whole_view
from services.ledger.dispute_store import Held
from services.referee.rules import fold
from services.runtime.logging_setup import get_log
from services.runtime.worker_loop import BUGS
from services.verification.audit import Audit, audit, document
from services.verification.game_repository import Shelf
from services.verification.log_check import proven_file, signed
from services.verification.seat_answer import answer_so_far, table_of
from services.verification.verdict_check import UNREADABLE
from services.verification.view_check import UNSIGNED, chain_sent, views_sent

log = get_log("auditor")
KIND: Final = "dispute"
AGAIN_S: Final = 300.0  # before a dispute that was looked at is looked at again, unless its game went on
FOUND_MOST: Final = 20  # findings that are kept of one audit; there is always `ledgerline audit`
GONE: Final = "This entry of the game is no longer kept, so nothing more of it can be checked."


@kind(KIND, timeout_s=120)
def answer_dispute(tools: Tools, id_: str) -> None:
    """Answer a dispute as far as it can be answered now. Done again it comes to the same."""
    name = read_name(id_)
    disputes = tools.ledger.disputes()
    held = disputes.one(name)
    if held is None or held.final:
        return
    disputes.settle(name, LOOKING)
    try:
        runs = _answered(tools, held)
    except Exception:
        disputes.settle(name, FAILED)
        raise
    if runs and name.seat is not None:
        _tell_operator(tools, held)


def _answered(tools: Tools, held: Held) -> bool:
    """Write the answer; whether the game runs on. While it does, only the seat's own view was read."""
    name, number = held.name, held.dispute.number
    if name.seat is None:
        return _audited(tools, held, is_over=False)
    view = list(whole_view(tools.ledger, name.game, name.seat))
    is_over = table_of(view).over is not None
    if not view or is_over:
        return _audited(tools, held, is_over=is_over)
    if number > len(view):
        raise Gap(f"what seat {name.seat} of {name.game} was sent ends before entry {number}")
    own = _own_command(tools.ledger, view, name, number)
    tools.ledger.disputes().settle(
        name, TOLD, pack_answer(answer_so_far(name.game, name.seat, view, number, own))
    )
    return True


def _audited(tools: Tools, held: Held, is_over: bool) -> bool:
    """The same with the whole audit for an answer. Raises Gap rather than tell a seat of a game that may
    run: its view is lost, so nobody can say what it may know."""
    name, disputes = held.name, tools.ledger.disputes()
    leaves = tools.wall_ms() + round(tools.settings.retention_s * 1000)
    found = audited(tools, name.game)
    if found is None or held.dispute.number > len(found.entries):  # a log that lost its end, say
        lost = b"" if held.answer else pack_answer({"scope": "whole", "verdict": GONE})
        disputes.settle(name, LOST, lost, leaves=leaves)
        return False
    is_over = is_over or found.is_over
    if not is_over and name.seat is not None:
        raise Gap(f"nothing is there of what seat {name.seat} of {name.game} was sent")
    told = {"scope": "whole", **document(found.audit, found.entries, held.dispute.number)}
    state, until = (WHOLE, leaves) if is_over else (TOLD, None)
    disputes.settle(name, state, pack_answer(told), _summary(found.audit), until)
    _log(held, found.audit)
    return not is_over


def _tell_operator(tools: Tools, held: Held) -> None:
    """Audit the game as it is for the operator. The seat isn't told what comes of it, nor when, nor that
    it broke: its own answer is written."""
    try:
        found = audited(tools, held.name.game)
    except (Gap, Corrupt, ArchiveAway, *BUGS):
        log.exception("disputed game can't be audited", dispute=held.name.id, game=held.name.game)
        return
    if found is not None:
        tools.ledger.disputes().settle(held.name, TOLD, found=_summary(found.audit))
        _log(held, found.audit)


def _log(held: Held, done: Audit) -> None:
    about = {"dispute": held.name.id, "game": held.name.game, "entry": held.dispute.number}
    if done.ok:
        log.info("dispute looked at", **about)
        return
    log.error(
        "disputed game isn't as it should be", **about, findings=len(done.findings), why=done.findings[0].why
    )


# -- what is read ------------------------------------------------------------------------


def _own_command(ledger: RedisLedger, view: Sequence[ViewEntry], name: Name, number: int) -> Command | None:
    """What the seat itself said there: it knows, but its view doesn't hold it. None where another spoke."""
    if view[number - 1].answers is None:
        return None
    return unpack_entry(ledger.history(name.game, number - 1)[0]).command


class Audited(NamedTuple):
    """A game that was audited, as it was then."""

    audit: Audit
    entries: list[bytes]
    is_over: bool


def audited(tools: Tools, game: str) -> Audited | None:
    """The audit of a game in the engine, or else of its file in the archive; None where it is in neither.
    Raises ArchiveAway."""
    entries = tools.ledger.history(game)
    is_over = not entries or _is_over(entries)
    file = Shelf(tools.archive).file(game) if tools.archive and is_over else None
    if not entries:
        return file and Audited(audit(game, file.entries, proven_file(file)), file.entries, is_over=True)
    signature = signed(file, None) if file is not None and file.entries == entries else UNSIGNED
    checks = (*chain_sent(tools.ledger, game, entries), views_sent(tools.ledger, game, entries), signature)
    return Audited(audit(game, entries, checks), entries, is_over)


def _is_over(entries: Sequence[bytes]) -> bool:
    try:
        return bool(fold(entries).over)
    except UNREADABLE:  # the audit says so
        return False


def _summary(done: Audit) -> bytes:
    """What the operator is told of an audit, in short."""
    found = [finding._asdict() for finding in done.findings[:FOUND_MOST]]
    told = {"ok": done.ok, "verdict": done.in_a_sentence, "count": len(done.findings), "findings": found}
    return pack_answer(told)


# -- what is to be done ------------------------------------------------------------------


class Disputed:
    """Finds disputes that wait for an answer, or for the end of their game, and forgets old ones."""

    def __init__(self, tools: Tools, jobs: Jobs, clock: Callable[[], float] = time.monotonic) -> None:
        self.tools, self.jobs, self.rests = tools, jobs, Rests(AGAIN_S, clock)
        self.disputes = tools.ledger.disputes()

    def look(self) -> int:
        """Put down jobs for some of them; how many."""
        self.disputes.leave(self.tools.wall_ms())
        wanted = [(id_, -1) for id_ in self.disputes.waiting()]
        wanted += [(told.id, told.length) for told in self.disputes.told() if told.idle or not told.length]
        count = 0
        for id_, length in wanted:
            if (id_, length) in self.rests:
                continue
            put = self.jobs.put(KIND, id_, id_)
            if put is None:
                break  # so many wait that there is time to come back
            count += put
            self.rests.add(id_, length)
        return count
