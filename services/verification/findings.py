"""Findings of an audit, by kind of check. A check without findings has passed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, get_args

CheckKind = Literal["chain", "signature", "deal", "view", "verdict", "fold"]
CHECK_KINDS: Final[tuple[CheckKind, ...]] = get_args(CheckKind)


class Finding(NamedTuple):
    """One thing that is wrong."""

    number: int | None  # the entry's sequence; None: the game, or the file, as a whole
    kind: CheckKind
    why: str  # a sentence for an arbiter


class Check(NamedTuple):
    """The outcome of one kind of check: its findings, or why it was skipped."""

    kind: CheckKind
    findings: Sequence[Finding] = ()
    skipped_reason: str = ""  # a sentence; empty where the check was done
