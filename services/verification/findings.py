"""What an audit can find wrong with a game. Every check yields findings; none is the best answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, get_args

CheckKind = Literal["chain", "signature", "deal", "view", "verdict", "fold"]
CHECK_KINDS: Final[tuple[CheckKind, ...]] = get_args(CheckKind)


class Finding(NamedTuple):
    """One thing that isn't as it must be."""

    number: int | None  # the entry where it shows; None: the game, or the file, as a whole
    kind: CheckKind
    why: str  # a sentence for an arbiter


class Check(NamedTuple):
    """One kind of check of a game, done: what it found, or why it could not be done."""

    kind: CheckKind
    findings: Iterable[Finding] = ()
    skipped_reason: str = ""  # a sentence; empty where the check was done
