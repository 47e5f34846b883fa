"""The whole audit of a game: every check that is possible, and its findings.

Applying and deciding again need only the log, and are done here. Checks that need more (the chain, a signature,
the deal, what viewers were sent) join them as values of `Check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from schemas.contract import Json
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import GameId, Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.hash_chain import initial_head, next_head
from services.archive import DIGEST_BYTES, Archive, TrustedKeys
from services.ledger import GameReader, MissingEntryError, StoredGame, ViewReader, iter_view
from services.referee.games import redact_for
from services.runtime.forgetful_mapping import Recent
from services.verification.deal_check import describe_deal_makers
from services.verification.explanation import explain, explanation_json
from services.verification.game_repository import FinishedGameReader
from services.verification.log_check import Check, CheckKind, Finding, check_file, check_log, replay_findings
from services.verification.replay import Replay, ResealedEntry

PASS_SENTENCES: Final[dict[CheckKind, str]] = {
    "chain": "Nothing was changed, dropped, put in or moved since it was written.",
    "signature": "The server signed exactly this game.",
    "deal": "Seed, shuffles and every card that left a pile are those that were committed to.",
    "view": "Every player was sent what it should see, and no more.",
    "verdict": "Every command was decided again, and got the verdict that the rules give.",
    "fold": "Every entry can be read and applied.",
}  # what each kind of check shows where it finds nothing
CHECK_NAMES: Final[dict[CheckKind, str]] = {
    "chain": "The chain",
    "signature": "The signature",
    "deal": "The deal",
    "view": "The views",
    "verdict": "The verdicts",
    "fold": "The entries",
}
REPLAY_KINDS: Final[tuple[CheckKind, ...]] = ("fold", "verdict")  # that one pass over the log finds


class Audit(NamedTuple):
    """The outcome of an audit."""

    game: GameId
    entries: int
    findings: tuple[Finding, ...]  # by entry, after those of the game as a whole
    checked: tuple[CheckKind, ...]
    unchecked: dict[CheckKind, str]  # kinds that could not be checked, and why
    deal: str  # a sentence: who could have chosen it

    @property
    def ok(self) -> bool:
        return not self.findings

    @property
    def summary(self) -> str:
        """One sentence: whether anything is wrong, and from which entry on."""
        if self.ok:
            not_checked = ", ".join(
                CHECK_NAMES[kind].lower() for kind in PASS_SENTENCES if kind not in self.checked
            )
            if not_checked:
                return f"Nothing wrong was found in game {self.game}; not checked: {not_checked}."
            return f"Nothing is wrong with game {self.game}: everything was checked."
        problem_count = "one thing is" if len(self.findings) == 1 else f"{len(self.findings)} things are"
        first = next((finding.number for finding in self.findings if finding.number is not None), None)
        start_note = "" if first is None else f", from entry {first} of {self.entries} on"
        return f"Game {self.game} isn't as it should be: {problem_count} wrong{start_note}."


def audit(replay: Replay, checks: Iterable[Check] = ()) -> Audit:
    """The audit of a game's log, with what further checks found. What is wrong with the game is a finding,
    never an exception."""
    found = list(replay_findings(replay))
    by_kind = (Check(kind, [each for each in found if each.kind == kind]) for kind in REPLAY_KINDS)
    all_checks = [*checks, *by_kind]
    done = [check for check in all_checks if not check.skipped_reason]
    findings = [finding for check in done for finding in check.findings]
    checked = {check.kind for check in done}
    skipped = {check.kind: check.skipped_reason for check in all_checks if check.skipped_reason}
    return Audit(
        game=replay.game,
        entries=len(replay.log),
        findings=tuple(sorted(findings, key=lambda finding: finding.number or 0)),
        checked=tuple(kind for kind in PASS_SENTENCES if kind in checked),
        unchecked={kind: reason for kind, reason in skipped.items() if kind not in checked},
        deal=describe_deal_makers(replay.decoded.entries),
    )


def audit_json(result: Audit, replay: Replay, sequence: int | None = None) -> Json:
    """The audit as a JSON object; `move` is the entry of that sequence, explained. Raises InvalidInputError
    if the log doesn't have it."""
    payload: Json = {
        "game": result.game,
        "ok": result.ok,
        "verdict": result.summary,
        "entries": result.entries,
        "findings": [finding._asdict() for finding in result.findings],
        "checked": list(result.checked),
        "unchecked": result.unchecked,
        "deal": result.deal,
    }
    if sequence is not None:
        try:
            payload["move"] = explanation_json(explain(replay, sequence))
        except CorruptDataError as error:
            payload["move"] = {"number": sequence, "unreadable": str(error)}
    return payload


MAX_KEPT: Final = 64  # audits; a file never changes


class FinishedGameAudits(FinishedGameReader):
    """Reads finished games, and audits them by its own keys. The names of players aren't in an audit."""

    def __init__(self, archive: Archive | None, trusted: TrustedKeys) -> None:
        super().__init__(archive, trusted)
        self._kept_audits = Recent[tuple[str, int | None, bytes], Json](MAX_KEPT)

    def audit(self, game: str, number: int | None, stored: StoredGame | None) -> Json | None:
        """The audit of a game, with entry `number` explained; None where it has no file.

        Raises ArchiveUnavailableError, CorruptDataError, or InvalidInputError: the game has no such entry."""
        key = game, number, b"" if stored is None else stored.data[-DIGEST_BYTES:]
        with self._lock:
            if (kept := self._kept_audits.get(key)) is not None:
                return kept
        file = self.read_game_file(game, stored)
        if file is None:
            return None
        if number is not None and number > len(file.entries):
            raise InvalidInputError("at", f"{number} isn't between 1 and {len(file.entries)}")
        replay = Replay(game, file.entries)
        trusted = self.trusted if self.trusted.keys else None  # nobody is known to sign
        answer = audit_json(audit(replay, check_file(file, trusted, replay=replay)), replay, number)
        with self._lock:
            self._kept_audits[key] = answer
        return answer


SIGNATURE_NOT_CHECKED: Final = Check(
    "signature", skipped_reason="A game is signed in its file; the engine holds no signature."
)


def check_stored_views(ledger: ViewReader, replay: Replay) -> Check:
    """Every viewer's stored entries compared with what the log's entries come to, one by one."""
    if not replay.log:
        return Check("view", skipped_reason="The log is empty, so there is nothing to compare views with.")
    resealed, error = replay.resealed
    if error is not None:
        return Check(
            "view", skipped_reason="The log can't be read, so there is nothing to compare views with."
        )
    findings: list[Finding] = []
    for viewer in (None, *range(len(replay.state_after(1).seats))):
        findings += _compare_view(ledger, replay.game, viewer, resealed)
    return Check("view", findings)


def check_stored_chain(ledger: GameReader, replay: Replay) -> list[Check]:
    """Check what the log proves by itself, its chain against the heads that the public was sent."""
    game, log = replay.game, replay.log
    heads = _read_sent_heads(ledger, game)
    extra = len(heads) - len(log)
    # The game went on since the log was read.
    if extra > 0 and len(ledger.read_entries(game, len(log))) >= extra:
        heads = heads[: len(log)]
    return check_log(game, len(log), replay.resealed, heads).checks()


def _read_sent_heads(ledger: GameReader, game: GameId) -> list[bytes]:
    """The head after each entry as the public was sent it, as far as that can be read. An entry that was sent without
    a head has the one that follows."""
    heads: list[bytes] = []
    head = initial_head(game)
    with suppress(MissingEntryError, CorruptDataError):
        for entry in iter_view(ledger, game, None):
            head = entry.shown.head or next_head(head, entry.number, entry.shown.public)
            heads.append(head)
    return heads


def _compare_view(
    ledger: ViewReader, game: GameId, viewer: Seat | None, resealed: Sequence[ResealedEntry]
) -> Iterator[Finding]:
    """The findings of one viewer's stored entries. Ends at the first that can't be read."""
    viewer_name = "the public" if viewer is None else f"seat {viewer}"
    index = 0
    try:
        for stored_entry in islice(iter_view(ledger, game, viewer), len(resealed)):
            if why := _view_difference(stored_entry, viewer, resealed[index]):
                yield Finding(
                    index + 1, "view", f"What {viewer_name} was sent isn't what it may know: {why}."
                )
            index += 1
    except (MissingEntryError, CorruptDataError) as error:
        yield Finding(index + 1, "view", f"What {viewer_name} was sent can't be read from here on: {error}.")
    else:
        if index < len(resealed):
            yield Finding(index + 1, "view", f"For {viewer_name} there is nothing from this entry on.")


def _view_difference(stored_entry: ViewEntry, viewer: Seat | None, resealed: ResealedEntry) -> str:
    entry = resealed.entry
    expected_events = tuple(
        visible for event in entry.events if (visible := redact_for(viewer, event)) is not None
    )
    if tuple(stored_entry.events) != expected_events:
        return "its events are others"
    if stored_entry.at != entry.at:
        return "its time is another"
    if stored_entry.answers != (entry.id if viewer is not None and viewer == entry.seat else None):
        return "it answers another command"
    if stored_entry.shown.public != resealed.sealed.public:
        return "what all were sent differs from it in other bytes"
    if viewer is not None and stored_entry.shown.private_part != dict(resealed.sealed.private_parts).get(
        viewer
    ):
        return "its own part differs from it in other bytes"
    return ""
