"""What an audit can find wrong with a game. Every check yields findings; none is the best answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, get_args

Kind = Literal["chain", "signature", "deal", "view", "verdict", "fold"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Finding(NamedTuple):
    """One thing that isn't as it must be."""

    number: int | None  # the entry where it shows; None: the game, or the file, as a whole
    kind: Kind
    why: str  # a sentence for an arbiter


class Check(NamedTuple):
    """One kind of check of a game, done: what it found, or why it could not be done."""

    kind: Kind
    findings: Iterable[Finding] = ()
    undone: str = ""  # a sentence; empty where the check was done
