"""A viewer's entries, joined by number from the public stream and the viewer's own. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemas.codec import join_view, part_before
from schemas.entries import ViewEntry
from services.ledger.ports import Gap

Numbered = tuple[int, bytes]
Headed = tuple[int, bytes, bytes]  # number, public entry, the head after it


class TakenBack(Exception):
    """What was read before isn't there any more: the log lost its end, and may have grown again."""


def unchanged(after: int, head: bytes, public: Sequence[Headed]) -> Sequence[Headed]:
    """What follows entry `after` in a public view that was read from that entry on. Raises TakenBack
    unless the entry is there, and the head after it is this one, if that is known."""
    if not public or public[0][0] != after:
        raise TakenBack(f"entry {after} isn't there any more")
    if head and public[0][2] and public[0][2] != head:
        raise TakenBack(f"entry {after} isn't the one that was read")
    return public[1:]


def joined(after: int, public: Sequence[Headed], parts: Iterable[Numbered]) -> list[ViewEntry]:
    """The view after a number. `parts` may run ahead of `public`: what does is left for later.

    Every public number must be there, one after the other. A part names the number of the
    part before it, so a lost one shows as soon as a later one comes. Raises Gap."""
    in_row("public view", after, ((number, data) for number, data, _ in public))
    last = after + len(public)
    own: dict[int, bytes] = {}
    before = None
    for number, part in parts:
        if number > last:
            break
        said = part_before(part)
        if said != before if before is not None else said > after:
            raise Gap(f"view: the seat's part {said} is missing before its part {number}")
        own[number], before = part, number
    return [join_view(number, data, own.get(number), head) for number, data, head in public]


def in_row(what: str, after: int, entries: Iterable[Numbered]) -> None:
    """Raise Gap unless the entries are numbered after+1, after+2, and so on."""
    for expected, (number, _) in enumerate(entries, after + 1):
        if number != expected:
            raise Gap(f"{what}: entry {expected} is missing, {number} follows {expected - 1}")
