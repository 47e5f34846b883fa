"""Whether a game's log, as a seat reads it, has each command that was answered once, and none twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Checked(NamedTuple):
    """What came of a seat's commands: how many were answered, of which so many are lost, how many are there twice, and
    whether the next one was decided, whose answer didn't come."""

    answered: int
    lost: int
    doubled: int
    decided_next: bool = False


def check_answers(prefix: str, answered: Sequence[int], entries: Iterable[tuple[int, str | None]]) -> Checked:
    """Compare answers with a log. The seat's n-th command has the id PREFIX-n, and `answered[n]` is the entry that its
    answer named. An entry is its number and the id of the command that it answers. One more command may be there: the
    last, which got no answer."""
    places: dict[int, list[int]] = {}
    for number, id_ in entries:
        if id_ and id_.startswith(f"{prefix}-"):
            places.setdefault(int(id_.rpartition("-")[2]), []).append(number)
    lost = sum(number not in places.get(n, ()) for n, number in enumerate(answered))
    doubled = sum(len(found) > 1 for found in places.values())
    return Checked(len(answered), lost, doubled, len(answered) in places)
