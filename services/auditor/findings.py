"""What an audit can find wrong with a game. Every check yields findings; none is the best answer."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

Kind = Literal["chain", "signature", "deal", "view", "verdict", "fold"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


class Finding(NamedTuple):
    """One thing that isn't as it must be."""

    number: int | None  # the entry where it shows; None: the game, or the file, as a whole
    kind: Kind
    why: str  # a sentence for an arbiter
