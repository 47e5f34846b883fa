"""The whole audit of a game: everything that can be checked of it, and what was found.

Folding and deciding again need nothing but the log, and are done here. Checks that need more (the
chain, a signature, the deal, what viewers were sent) join them as values of `findings.Check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from schemas.codec import Corrupt
from schemas.field_types import GameId
from services.verification.explanation import explain
from services.verification.explanation_json import explanation
from services.verification.findings import Check, Finding, Kind
from services.verification.verdict_check import doubts

PLAINLY: Final[dict[Kind, str]] = {
    "chain": "Nothing was changed, dropped, put in or moved since it was written.",
    "signature": "The house signed exactly this game.",
    "deal": "Seed, shuffles and every card that left a pile are those that were committed to.",
    "view": "Every player was sent what it should see, and no more.",
    "verdict": "Every command was decided again, and got the verdict that the rules give.",
    "fold": "Every entry can be read and does to the table what it says.",
}  # what each kind of check shows, where it finds nothing
NAMES: Final[dict[Kind, str]] = {
    "chain": "The chain",
    "signature": "The signature",
    "deal": "The deal",
    "view": "The views",
    "verdict": "The verdicts",
    "fold": "The entries",
}


class Audit(NamedTuple):
    """What an audit came to."""

    game: GameId
    entries: int
    findings: tuple[Finding, ...]  # by entry; those of the game as a whole first
    checked: tuple[Kind, ...]
    unchecked: dict[Kind, str]  # why some kinds could not be checked

    @property
    def ok(self) -> bool:
        return not self.findings

    @property
    def in_a_sentence(self) -> str:
        """The verdict: the first thing that anybody wants to know."""
        if self.ok:
            left = ", ".join(NAMES[kind].lower() for kind in PLAINLY if kind not in self.checked)
            if left:
                return f"Nothing wrong was found in game {self.game}; not checked: {left}."
            return f"Nothing is wrong with game {self.game}: everything was checked."
        wrong = "one thing is" if len(self.findings) == 1 else f"{len(self.findings)} things are"
        first = next((found.number for found in self.findings if found.number is not None), None)
        begins = "" if first is None else f", from entry {first} of {self.entries} on"
        return f"Game {self.game} isn't as it should be: {wrong} wrong{begins}."


def audit(game: GameId, log: Sequence[bytes], checks: Iterable[Check] = ()) -> Audit:
    """The audit of a game's log, with what further checks found. It never raises for what is wrong
    with the game: that is what findings are for."""
    done = [*checks, *_own(game, log)]
    checked: dict[Kind, None] = {}
    unchecked: dict[Kind, str] = {}
    found: list[Finding] = []
    for check in done:
        if check.undone:
            unchecked[check.kind] = check.undone
            continue
        checked[check.kind] = None
        found += check.findings
    ordered = sorted(found, key=lambda finding: finding.number or 0)
    whole = tuple(kind for kind in PLAINLY if kind in checked)
    return Audit(
        game, len(log), tuple(ordered), whole, {k: w for k, w in unchecked.items() if k not in checked}
    )


def _own(game: GameId, log: Sequence[bytes]) -> Iterable[Check]:
    """Folding and deciding again go together; their findings are told apart."""
    found = list(doubts(game, log))
    yield Check("fold", [finding for finding in found if finding.kind == "fold"])
    yield Check("verdict", [finding for finding in found if finding.kind != "fold"])


def document(done: Audit, log: Sequence[bytes], at: int | None = None) -> dict[str, Any]:
    """The audit as a JSON object; `move` is the entry that was asked for, explained. Raises
    Malformed if there is no such entry."""
    told: dict[str, Any] = {
        "game": done.game,
        "ok": done.ok,
        "verdict": done.in_a_sentence,
        "entries": done.entries,
        "findings": [finding._asdict() for finding in done.findings],
        "checked": list(done.checked),
        "unchecked": done.unchecked,
    }
    if at is not None:
        try:
            told["move"] = explanation(explain(done.game, log, at))
        except Corrupt as error:
            told["move"] = {"number": at, "unreadable": str(error)}
    return told
