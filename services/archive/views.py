"""What each viewer was shown of a game, from its log alone. Pure.

An entry of a log is split already into what all may know, what single seats may, and the rest; so
this turns nothing face down, it only lays together what belongs together.
"""

from __future__ import annotations

from collections.abc import Sequence

from schemas.codec import Corrupt, join_view, pack, unpack
from schemas.views import ViewEntry
from schemas.words import Seat


def seen(
    entries: Sequence[bytes], viewer: Seat | None, after: int = 0, most: int | None = None
) -> list[ViewEntry]:
    """A viewer's entries after a number, as they came while the game was played. Raises Corrupt."""
    end = len(entries) if most is None else after + most
    return [_seen(number, data, viewer) for number, data in enumerate(entries[after:end], after + 1)]


def _seen(number: int, data: bytes, viewer: Seat | None) -> ViewEntry:
    try:
        form, at, id_, seat, _, public, private, _ = unpack(data)
        part = None
        if viewer is not None and (viewer in private or viewer == seat):
            rows = private.get(viewer, {})
            part = pack((form, 0, id_ if viewer == seat else None, rows))
        return join_view(number, pack((form, at, public)), part)
    except (ValueError, TypeError, AttributeError) as error:
        raise Corrupt(f"no log entry can be read from {data[:60]!r}: {error}") from None
