"""The whole audit of a game: every check that is possible, and its findings.

Applying and deciding again need only the log, and are done here. Checks that need more (the chain, a signature,
the deal, what viewers were sent) join them as values of `findings.Check`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, NamedTuple

from schemas.contract import Json
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import GameId
from services.archive import Archive, TrustedKeys
from services.archive.game_file import DIGEST_BYTES
from services.ledger import StoredGame
from services.verification.deal_check import describe_deal_makers
from services.verification.explanation import explain, explanation_json
from services.verification.findings import Check, CheckKind, Finding
from services.verification.game_repository import FinishedGameReader
from services.verification.log_check import check_file
from services.verification.replay import Replay
from services.verification.verdict_check import replay_findings

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
        self._kept_audits: OrderedDict[tuple[str, int | None, bytes], Json] = OrderedDict()

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
            while len(self._kept_audits) > MAX_KEPT:
                self._kept_audits.popitem(last=False)
        return answer
