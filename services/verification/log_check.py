"""Checks that need only a log, or a game's file: its chain, its deal, and the views that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, get_args

from schemas.errors import CorruptDataError
from schemas.events import GameCreated, GameEnded
from schemas.stored.hash_chain import initial_head, next_head
from schemas.stored.player_names import committed_names, holds_name_and_commitment, pack_names, unpack_names
from services.archive import (
    GameFile,
    GameFileError,
    TrustedKeys,
    build_statement,
    decode_game_file,
    is_signed,
)
from services.archive.game_file import FILE_MAGIC, MARK_BYTES, recover_game_file
from services.verification.replay import Pass, Replay, ResealedEntry

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


class LogCheck(NamedTuple):
    """The findings of chain, deal and views of one log."""

    chain: list[Finding]
    deal: list[Finding]
    view: list[Finding]
    head: bytes  # as it follows from the log; empty if the log can't be read to its end
    over: bool = False  # the game is over at the end of the log

    def checks(self) -> list[Check]:
        """The findings as the checks of an audit."""
        return [Check("chain", self.chain), Check("deal", self.deal), Check("view", self.view)]


def check_log(game: str, length: int, resealed: Pass[ResealedEntry], marks: Sequence[bytes]) -> LogCheck:
    """Check chain, deal and views of a log of so many entries, sealed again. `marks` are the heads after the entries, or
    how each begins. After the first entry whose head isn't the marked one, no other is compared."""
    result = LogCheck(chain=[], deal=[], view=[], head=b"")
    head, over = initial_head(game), False
    for sequence, entry in enumerate(resealed.entries, 1):
        head = entry.sealed.head
        over = any(isinstance(event, GameEnded) for event in entry.entry.events)
        if not result.chain and not _matches_mark(head, marks, sequence):
            why = "The head that follows from the log until here isn't the one that was kept."
            result.chain.append(Finding(sequence, "chain", why))
        if entry.deal_error:
            result.deal.append(Finding(sequence, "deal", entry.deal_error))
        if entry.view_error:
            result.view.append(Finding(sequence, "view", entry.view_error))
    if resealed.error is not None:
        why = f"It can't be read or folded: {resealed.error}."
        result.chain.append(Finding(len(resealed.entries) + 1, "chain", why))
        return result
    if not result.chain and len(marks) != length:
        why = f"The log has {length} entries, and {len(marks)} heads were kept."
        result.chain.append(Finding(min(length, len(marks)) + 1, "chain", why))
    return result._replace(head=head, over=over)


def _matches_mark(head: bytes, marks: Sequence[bytes], sequence: int) -> bool:
    return sequence > len(marks) or (bool(marks[sequence - 1]) and head.startswith(marks[sequence - 1]))


def recompute_heads(game: str, public_entries: Iterable[tuple[int, bytes, bytes]]) -> list[bytes]:
    """The head after each entry. `public_entries` are sequence, public bytes and the head that viewers were sent with
    them, empty where none is known. Raises CorruptDataError where a sent head isn't the one that follows."""
    heads, head = [], initial_head(game)
    for sequence, public, stored_head in public_entries:
        head = next_head(head, sequence, public)
        if stored_head and stored_head != head:
            raise CorruptDataError(
                f"the head that was sent with entry {sequence} of {game} isn't that of the entries until there"
            )
        heads.append(head)
    return heads


def check_file(
    file: GameFile,
    trusted: TrustedKeys | None = None,
    noted_heads: Mapping[int, bytes] | None = None,
    replay: Replay | None = None,
) -> list[Check]:
    """Check a game's file as its log, and its signature, by one of the `trusted` keys if any are given.

    `noted_heads` are heads, by sequence, that somebody wrote down while the game was played. A `replay` of the file's log
    saves a pass over it."""
    marks = _split_marks(file)
    for sequence, head in (noted_heads or {}).items():
        if 0 < sequence <= len(marks):
            marks[sequence - 1] = head
    replay = replay or Replay(file.game, file.entries)
    result = check_log(file.game, len(file.entries), replay.resealed, marks)
    if file.number != len(file.entries):
        why = f"The file names entry {file.number} as the last, and has {len(file.entries)}."
        result.chain.append(Finding(min(max(0, file.number), len(file.entries)) + 1, "chain", why))
    elif result.head and result.head != file.head:
        why = "The head that the file names isn't the one that follows from its log."
        result.chain.append(Finding(None, "chain", why))
    elif result.head and not result.over:
        result.chain.append(Finding(None, "chain", "The game isn't over at the end of its file."))
    result.chain.extend(_name_findings(file, replay))
    return [*result.checks(), check_signature(file, trusted)]


def _name_findings(file: GameFile, replay: Replay) -> Iterator[Finding]:
    """Require that each name beside the log has its commitment there, and that the log has no name beside a commitment.
    A name that doesn't lie beside it was erased, or left out."""
    committed: set[str] = set()
    for sequence, entry in enumerate(replay.decoded.entries, 1):
        committed |= committed_names(entry.events)
        if holds_name_and_commitment(entry.events):
            yield Finding(sequence, "chain", "It holds a player's name, and a commitment in its place.")
    try:
        names = unpack_names(file.names) if file.names else {}
    except CorruptDataError as error:
        yield Finding(None, "chain", f"The names beside the log can't be read: {error}.")
        return
    if file.names and pack_names(names) != file.names:
        yield Finding(None, "chain", "The names beside the log aren't in their order, or one stands twice.")
    for salted in names.values():
        if salted.commitment not in committed:
            why = f"The name {salted.name!r} lies beside the log, which commits to no such name."
            yield Finding(None, "chain", why)


def check_file_bytes(
    data: bytes, trusted: TrustedKeys | None = None, noted_heads: Mapping[int, bytes] | None = None
) -> tuple[GameFile, list[Check]]:
    """Check a file's bytes. A damaged file has one finding, at the first entry that its marks don't confirm.

    Raises GameFileError where nothing can be recovered."""
    try:
        file = decode_game_file(data)
    except GameFileError as error:
        recovered = recover_game_file(data) if data.startswith(FILE_MAGIC) else None
        if recovered is None:
            raise
        return recovered, [Check("chain", [_damage_finding(recovered, error)])]
    return file, check_file(file, trusted, noted_heads)


def _damage_finding(file: GameFile, error: GameFileError) -> Finding:
    resealed = Replay(file.game, file.entries).resealed
    checks = check_log(file.game, len(file.entries), resealed, _split_marks(file)).checks()
    sequence = min(
        (finding.number for check in checks for finding in check.findings if finding.number), default=None
    )
    return Finding(sequence, "chain", f"{str(error)[:1].upper()}{str(error)[1:]}.")


def _split_marks(file: GameFile) -> list[bytes]:
    """The marks of a file: the first bytes of the head after each entry."""
    return [file.marks[offset : offset + MARK_BYTES] for offset in range(0, len(file.marks), MARK_BYTES)]


def check_signature(file: GameFile, trusted: TrustedKeys | None) -> Check:
    """Whether the file's last head is signed, and by one of these keys. Without any, a signature that fits says
    nothing: anybody can sign, so the check counts as not made."""
    if not is_signed(build_statement(file.game, file.number, file.head), file.signature, file.key):
        return Check("signature", [Finding(None, "signature", "The signature isn't of this game and head.")])
    if trusted is None:
        return Check(
            "signature",
            skipped_reason="It fits the key in the file, and nothing says whose that is: name the server's with --key.",
        )
    if not trusted.may_sign(file.key, created_ms(file)):
        why = f"It is signed with the key {file.key.hex()}, which isn't the server's, or wasn't when the game was created."
        return Check("signature", [Finding(None, "signature", why)])
    return Check("signature")


def check_same_end(first: GameFile, other: GameFile) -> Iterator[Check]:
    """Whether two signed files of a game end alike; whoever signed two ends has changed the game for one of its readers."""
    if first.head != other.head:
        who = "the same key" if first.key == other.key else f"the key {first.key.hex()}"
        why = f"Another file of this game, signed with {who}, ends after entry {first.number} with the head {first.head.hex()}."
        yield Check("signature", [Finding(None, "signature", why)])


def created_ms(file: GameFile) -> int:
    """When the game was created, by its own log: milliseconds since 1970; 0 where that can't be read."""
    events = [
        event for entry in Replay(file.game, file.entries[:1]).decoded.entries for event in entry.events
    ]
    return next((event.created for event in events if isinstance(event, GameCreated)), 0)
