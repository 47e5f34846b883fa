"""What a log proves by itself: its chain, its deal, and what every viewer was to see of it.

A log is walked once. Every entry is sealed again from its events alone, so what was stored, sent or
signed must be what follows from them, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from schemas.codec import UNSEALED, Corrupt, pack_public, row_event, unpack, unpack_entry
from schemas.entries import Entry
from schemas.events import Event, GameEnded
from schemas.hash_chain import first_head, next_head
from services.archive import GameFile, Unreadable, is_signed, read_file, statement
from services.archive.game_file import BEGINS, MARK_BYTES
from services.archive.recovery import salvage
from services.referee.rules import Table, faces
from services.referee.rules.proof.event_order import Course
from services.referee.rules.proof.pile_tracker import Piles
from services.referee.rules.proof.sealing import Past, Sealed, seal
from services.verification.deal_check import fold_dealt
from services.verification.findings import Check, Finding
from services.verification.verdict_check import UNREADABLE


class Step(NamedTuple):
    """One entry of a log that is walked, sealed again."""

    number: int
    entry: Entry
    sealed: Sealed
    undealt: str  # what is wrong with its cards; empty if nothing is
    unseen: str  # what is wrong with what each was to see


def walk(game: str, log: Sequence[bytes]) -> Iterator[Step]:
    """Every entry of a log, as far as it can be read and folded. Raises one of UNREADABLE there."""
    table, piles, course, past = Table(), Piles(), Course(), Past(0, first_head(game), {})
    for number, data in enumerate(log, 1):
        entry = unpack_entry(data)
        misplaced = course.follow(number, entry.events)
        undealt = fold_dealt(table, entry)
        if table.game != game:
            raise Corrupt(f"it is of the game {table.game}")
        sealed = _sealed(table, past, piles, entry, data)
        yield Step(number, entry, sealed, undealt or misplaced, _unseen(table, entry, data, sealed))
        past = past.after(sealed)


def _sealed(table: Table, past: Past, piles: Piles, entry: Entry, data: bytes) -> Sealed:
    """The entry sealed again. One of an old game is chained by the rows that it was written with, which
    may be of former versions."""
    sealed = seal(table, past, piles, entry)
    form, at, _, _, _, public, _, _ = unpack(data)
    if form != UNSEALED:
        return sealed
    shown = pack_public(at, faces(())._replace(public=public))
    return sealed._replace(public=shown, head=next_head(past.head, past.number + 1, shown))


def _unseen(table: Table, entry: Entry, data: bytes, sealed: Sealed) -> str:
    """How what the entry tells each differs from what each may know."""
    if sealed.entry == data:
        return ""
    form, _, _, _, _, public, private, secret = unpack(data)
    if table.rules.dealing.sealed != (form != UNSEALED):
        return "It isn't in the form that entries of this game have."
    turned = faces(entry.events)
    if _read(dict(enumerate(public))) != _read(dict(enumerate(turned.public))):
        return "What all are told isn't what all may know."
    told, may_know = ({seat: _read(own) for seat, own in rows.items()} for rows in (private, turned.private))
    if told != may_know:
        return "What single seats are told isn't what they may know."
    if _read(secret) != _read(turned.secret):
        return "What is secret isn't what nobody may know."
    return "It isn't written as a referee writes it." if form != UNSEALED else ""


def _read(rows: Mapping[int, Sequence[object] | None]) -> dict[int, Event | None]:
    return {place: row_event(row) if row is not None else None for place, row in rows.items()}


class Proven(NamedTuple):
    """What a walk through a log found."""

    chain: list[Finding]
    deal: list[Finding]
    view: list[Finding]
    head: bytes  # as it follows from the log; empty if that can't be read to its end
    over: bool = False  # the game is, at its end

    def checks(self) -> list[Check]:
        return [Check("chain", self.chain), Check("deal", self.deal), Check("view", self.view)]


def proven(game: str, log: Sequence[bytes], marks: Sequence[bytes]) -> Proven:
    """The chain, the deal and the views of a log; `marks` are the heads of its entries, or how each
    begins. After the first entry whose head isn't the marked one, no other is compared."""
    found = Proven([], [], [], b"")
    number, head, over = 0, first_head(game), False
    try:
        for step in walk(game, log):
            number, head = step.number, step.sealed.head
            over = any(isinstance(event, GameEnded) for event in step.entry.events)
            if not found.chain and not _is_marked(head, marks, number):
                why = "The head that follows from the log until here isn't the one that was kept."
                found.chain.append(Finding(number, "chain", why))
            if step.undealt:
                found.deal.append(Finding(number, "deal", step.undealt))
            if step.unseen:
                found.view.append(Finding(number, "view", step.unseen))
    except UNREADABLE as error:
        found.chain.append(Finding(number + 1, "chain", f"It can't be read or folded: {error}."))
        return found
    if not found.chain and len(marks) != len(log):
        why = f"The log has {len(log)} entries, and {len(marks)} heads were kept."
        found.chain.append(Finding(min(len(log), len(marks)) + 1, "chain", why))
    return found._replace(head=head, over=over)


def _is_marked(head: bytes, marks: Sequence[bytes], number: int) -> bool:
    return number > len(marks) or (bool(marks[number - 1]) and head.startswith(marks[number - 1]))


def told_heads(game: str, shown: Iterable[tuple[int, bytes, bytes]]) -> list[bytes]:
    """The head after each entry, of `shown`: its number, its public bytes, and the head that all were
    told with it (empty for entries from before there was a chain). Raises Corrupt: they were told another
    than follows from what they were shown."""
    heads, head = [], first_head(game)
    for number, public, told in shown:
        head = next_head(head, number, public)
        if told and told != head:
            raise Corrupt(
                f"the head that was told after entry {number} of {game} isn't that of the entries until there"
            )
        heads.append(head)
    return heads


def proven_file(
    file: GameFile, key: bytes | None = None, kept: Mapping[int, bytes] | None = None
) -> list[Check]:
    """The same of a game's file, and its signature: by whoever has its key, or by this `key`. `kept` are
    heads, by number, that somebody wrote down while the game was played."""
    marks = _marks(file)
    for number, head in (kept or {}).items():
        if 0 < number <= len(marks):
            marks[number - 1] = head
    found = proven(file.game, file.entries, marks)
    if file.number != len(file.entries):
        why = f"The file names entry {file.number} as the last, and has {len(file.entries)}."
        found.chain.append(Finding(min(max(0, file.number), len(file.entries)) + 1, "chain", why))
    elif found.head and found.head != file.head:
        why = "The head that the file names isn't the one that follows from its log."
        found.chain.append(Finding(None, "chain", why))
    elif found.head and not found.over:
        found.chain.append(Finding(None, "chain", "The game isn't over at the end of its file."))
    return [*found.checks(), signed(file, key)]


def proven_bytes(
    data: bytes, key: bytes | None = None, kept: Mapping[int, bytes] | None = None
) -> tuple[GameFile, list[Check]]:
    """The same of a file's bytes. One that is damaged has a finding at the first entry that its marks
    don't confirm. Raises Unreadable where there is nothing to check."""
    try:
        file = read_file(data)
    except Unreadable as error:
        file_or_none = salvage(data) if data.startswith(BEGINS) else None
        if file_or_none is None:
            raise
        return file_or_none, [Check("chain", [_damaged(file_or_none, error)])]
    return file, proven_file(file, key, kept)


def _damaged(file: GameFile, error: Unreadable) -> Finding:
    checks = proven(file.game, file.entries, _marks(file)).checks()
    number = min((found.number for check in checks for found in check.findings if found.number), default=None)
    return Finding(number, "chain", f"{str(error)[:1].upper()}{str(error)[1:]}.")


def _marks(file: GameFile) -> list[bytes]:
    """How the head after each entry begins."""
    return [file.marks[at : at + MARK_BYTES] for at in range(0, len(file.marks), MARK_BYTES)]


def signed(file: GameFile, key: bytes | None) -> Check:
    """Whether the house signed the file's last head."""
    if key is not None and key != file.key:
        return Check(
            "signature", [Finding(None, "signature", f"It is signed with the key {file.key.hex()}.")]
        )
    if not is_signed(statement(file.game, file.number, file.head), file.signature, file.key):
        return Check("signature", [Finding(None, "signature", "The signature isn't of this game and head.")])
    return Check("signature")
