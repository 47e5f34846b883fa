"""Disputes: a disputed move is checked, and the answer is stored with the game.

While a game runs, the answer to a seat follows from its own view (`dispute_answers`). It is stored before anything
hidden is read; then the whole game is audited for the operator, and only the operator gets that result. When
the game is over, every dispute in it is answered by the whole audit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from schemas.commands import Command
from schemas.errors import CorruptDataError
from schemas.stored.codec import unpack_entry
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import shown_names
from schemas.web.disputes import DisputeId, DisputeState, pack_answer, parse_dispute_id
from services.archive import ArchiveUnavailableError
from services.auditor.job_queue import Jobs, RecheckThrottle
from services.auditor.jobs import JobContext, job_type
from services.ledger import EntryReader, MissingEntryError, iter_view
from services.ledger.stores.disputes import DisputeRecord
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.verification.audit import (
    SIGNATURE_NOT_CHECKED,
    Audit,
    audit,
    audit_json,
    check_stored_chain,
    check_stored_views,
)
from services.verification.dispute_answers import answer_on_reason, fold_view, seat_visible_answer
from services.verification.game_repository import FinishedGameReader
from services.verification.log_check import check_file, check_signature
from services.verification.replay import REPLAY_ERRORS, Replay, replaying

log = get_logger("auditor")
JOB_NAME: Final = "dispute"
MAX_STORED_FINDINGS: Final = 20  # of one audit; `ledgerline audit` shows all
RECHECK_INTERVAL_S: Final = 300.0  # between two jobs for one dispute, unless its game went on
ENTRY_GONE: Final = "This entry of the game is no longer kept, so nothing more of it can be checked."


@job_type(JOB_NAME, timeout_s=120)
def answer_dispute(context: JobContext, id_: str) -> None:
    """Answer a dispute as far as it can be answered now. Repeating it gives the same answer."""
    name = parse_dispute_id(id_)
    disputes = context.ledger.disputes()
    record = disputes.find(name)
    if record is None or record.is_final:
        return
    disputes.record_answer(name, DisputeState.IN_PROGRESS)
    try:
        is_running = _answer(context, record)
    except Exception:
        disputes.record_answer(name, DisputeState.FAILED)
        raise
    if is_running and name.seat is not None:
        _audit_for_operator(context, record)


def _answer(context: JobContext, record: DisputeRecord) -> bool:
    """Store the answer. Returns whether the game runs; if it does, only the seat's own view was read."""
    name, sequence = record.name, record.dispute.number
    if name.seat is None:
        return _answer_by_audit(context, record, is_over=False)
    view = list(iter_view(context.ledger, name.game, name.seat))
    is_over = fold_view(view).result is not None
    if not view or is_over:
        return _answer_by_audit(context, record, is_over=is_over)
    if sequence > len(view):
        raise MissingEntryError(f"what seat {name.seat} of {name.game} was sent ends before entry {sequence}")
    if record.answer:  # it doesn't change while the game runs
        return True
    command = _own_command(context.ledger, view, name, sequence)
    answer = seat_visible_answer(name.game, name.seat, view, sequence, command)
    shown = [(entry.at, entry.events) for entry in view]
    answer["on_reason"] = answer_on_reason(record.dispute, shown, _names(context, name.game), name.seat)
    context.ledger.disputes().record_answer(name, DisputeState.ANSWERED_PARTLY, pack_answer(answer))
    return True


def _answer_by_audit(context: JobContext, record: DisputeRecord, is_over: bool) -> bool:
    """Store the whole audit as the answer. Returns whether the game runs.

    Raises MissingEntryError where a seat's view is lost and the game may run: nobody knows then what it may know."""
    name, disputes = record.name, context.ledger.disputes()
    evict_at_ms = context.wall_ms() + round(context.settings.retention_s * 1000)
    audited_game = audit_game(context, name.game)
    # A log that lost its end, say, has no such entry.
    if audited_game is None or record.dispute.number > audited_game.audit.entries:
        answer = b"" if record.answer else pack_answer({"scope": "whole", "verdict": ENTRY_GONE})
        disputes.record_answer(name, DisputeState.GAME_LOST, answer, evict_at_ms=evict_at_ms)
        return False
    is_over = is_over or audited_game.is_over
    if not is_over and name.seat is not None:
        raise MissingEntryError(f"nothing is there of what seat {name.seat} of {name.game} was sent")
    result = audit_json(audited_game.audit, audited_game.replay, record.dispute.number)
    names = _names(context, name.game)
    try:
        with replaying():
            shown = [*audited_game.replay.timed_events(audited_game.audit.entries)]
            result["on_reason"] = answer_on_reason(record.dispute, shown, names, None)
    except REPLAY_ERRORS as error:  # a finding of the audit
        log.warning("no reason looked up in a damaged log", dispute=name.id, game=name.game, why=str(error))
    disputes.record_answer(
        name,
        DisputeState.ANSWERED_FULLY if is_over else DisputeState.ANSWERED_PARTLY,
        answer=pack_answer({"scope": "whole", **result}),
        findings=_summary(audited_game.audit),
        evict_at_ms=evict_at_ms if is_over else None,
    )
    _log_audit(record, audited_game.audit)
    return not is_over


def _audit_for_operator(context: JobContext, record: DisputeRecord) -> None:
    """Audit the game for the operator. The seat's own answer is stored already: it learns neither the result,
    nor when there is one, nor that the audit failed."""
    fields = {"dispute": record.name.id, "game": record.name.game}
    try:
        audited_game = audit_game(context, record.name.game)
    except (MissingEntryError, CorruptDataError, ArchiveUnavailableError) as error:
        log.error("disputed game can't be audited", **fields, error=str(error))
        return
    except PROGRAMMING_ERRORS:
        log.exception("disputed game can't be audited", **fields)
        return
    if audited_game is not None:
        context.ledger.disputes().record_answer(
            record.name, DisputeState.ANSWERED_PARTLY, findings=_summary(audited_game.audit)
        )
        _log_audit(record, audited_game.audit)


def _log_audit(record: DisputeRecord, result: Audit) -> None:
    fields = {"dispute": record.name.id, "game": record.name.game, "entry": record.dispute.number}
    if result.ok:
        log.info("disputed game audited, no findings", **fields)
        return
    why = result.findings[0].why
    log.error("disputed game audited, findings", **fields, findings=len(result.findings), why=why)


def _names(context: JobContext, game: str) -> dict[str, str]:
    """The names of the players, by their commitments, as reasons may name them; none in an answer."""
    names = context.ledger.read_names(game)
    return shown_names(names or FinishedGameReader(context.archive, context.trusted).read_names(game))


# -- reading ----------------------------------------------------------------------------


def _own_command(
    ledger: EntryReader, view: Sequence[ViewEntry], name: DisputeId, sequence: int
) -> Command | None:
    """The seat's own command of this entry, which its view doesn't hold; None where another sent it."""
    if view[sequence - 1].answers is None:
        return None
    return unpack_entry(ledger.read_entries(name.game, sequence - 1)[0]).command


class AuditedGame(NamedTuple):
    """An audit, and the log that it audited."""

    audit: Audit
    replay: Replay
    is_over: bool


def audit_game(context: JobContext, game: str) -> AuditedGame | None:
    """The audit of a game that has streams in the engine, or else of its file there or in the archive; None where it is
    nowhere. Raises ArchiveUnavailableError, CorruptDataError or MissingEntryError."""
    entries = context.ledger.read_entries(game)
    replay = Replay(game, entries)
    is_over = not entries or _is_over(replay)
    trusted = context.trusted
    stored = context.ledger.read_stored_game(game) if is_over else None
    file = FinishedGameReader(context.archive, trusted).read_game_file(game, stored) if is_over else None
    if not entries:
        if file is None:
            return None
        replay = Replay(game, file.entries)
        return AuditedGame(audit(replay, check_file(file, trusted, replay=replay)), replay, is_over=True)
    is_same = file is not None and file.entries == entries
    signature = check_signature(file, trusted) if file is not None and is_same else SIGNATURE_NOT_CHECKED
    views = check_stored_views(context.ledger, replay)
    checks = (*check_stored_chain(context.ledger, replay), views, signature)
    if not context.ledger.read_entries(game, len(entries) - 1):  # its streams are gone since
        return audit_game(context, game)
    return AuditedGame(audit(replay, checks), replay, is_over)


def _is_over(replay: Replay) -> bool:
    try:
        return replay.state_after(len(replay.log)).result is not None
    except CorruptDataError:  # a finding of the audit
        return False


def _summary(result: Audit) -> bytes:
    """The short form of an audit, for the operator."""
    findings = [finding._asdict() for finding in result.findings[:MAX_STORED_FINDINGS]]
    payload = {
        "ok": result.ok,
        "verdict": result.summary,
        "count": len(result.findings),
        "findings": findings,
    }
    return pack_answer(payload)


class DisputeScanner:
    """Enqueues jobs for disputes that wait for an answer, or for the end of their game, and evicts old ones."""

    def __init__(self, context: JobContext, jobs: Jobs, clock: Callable[[], float] = time.monotonic) -> None:
        self.context, self.jobs, self.throttle = context, jobs, RecheckThrottle(RECHECK_INTERVAL_S, clock)
        self.disputes = context.ledger.disputes()

    def enqueue_due(self) -> int:
        """Enqueue jobs for some of them. Returns how many."""
        self.disputes.evict(self.context.wall_ms())
        due = [(id_, -1) for id_ in self.disputes.next_unanswered()]
        due += [
            (answered.id, answered.length)
            for answered in self.disputes.next_provisional()
            if answered.is_idle or not answered.length
        ]
        count = 0
        for id_, length in due:
            if (id_, length) in self.throttle:
                continue
            enqueued = self.jobs.enqueue(JOB_NAME, id_, id_)
            if enqueued is None:
                break  # the queue is full: the next scan goes on from here
            count += enqueued
            self.throttle.add(id_, length)
        return count
