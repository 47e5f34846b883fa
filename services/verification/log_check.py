"""What a log proves by itself: its chain, its deal, and what every viewer was to see of it.

A log is walked once. Every entry is sealed again from its events alone, so what was stored, sent or
signed must be what follows from them, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from schemas.codec import UNSEALED_FORMAT, pack_public, row_to_event, unpack, unpack_entry
from schemas.entries import Entry
from schemas.errors import CorruptDataError
from schemas.events import Event, GameEnded
from schemas.hash_chain import initial_head, next_head
from services.archive import GameFile, GameFileError, build_statement, decode_game_file, is_signed
from services.archive.game_file import FILE_MAGIC, MARK_BYTES
from services.archive.recovery import recover_game_file
from services.referee.rules import GameState, split_by_visibility
from services.referee.rules.proof.event_order import EventOrder
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.rules.proof.sealing import ChainState, SealedEntry, seal_entry
from services.verification.deal_check import apply_and_check_deal
from services.verification.findings import Check, Finding
from services.verification.verdict_check import REPLAY_ERRORS


class ResealedEntry(NamedTuple):
    """One entry of a log that is walked, sealed again."""

    sequence: int
    entry: Entry
    sealed: SealedEntry
    deal_error: str  # what is wrong with its cards; empty if nothing is
    view_error: str  # what is wrong with what each was to see


def reseal_log(game: str, log: Sequence[bytes]) -> Iterator[ResealedEntry]:
    """Every entry of a log, as far as it can be read and folded. Raises one of UNREADABLE there."""
    state, pile_tracker, event_order, chain_state = (
        GameState(),
        PileTracker(),
        EventOrder(),
        ChainState(0, initial_head(game), {}),
    )
    for sequence, data in enumerate(log, 1):
        entry = unpack_entry(data)
        order_error = event_order.check(sequence, entry.events)
        deal_error = apply_and_check_deal(state, entry)
        if state.game != game:
            raise CorruptDataError(f"it is of the game {state.game}")
        sealed = _seal_again(state, chain_state, pile_tracker, entry, data)
        yield ResealedEntry(
            sequence, entry, sealed, deal_error or order_error, _view_error(state, entry, data, sealed)
        )
        chain_state = chain_state.after(sealed)


def _seal_again(
    state: GameState, chain_state: ChainState, pile_tracker: PileTracker, entry: Entry, data: bytes
) -> SealedEntry:
    """The entry sealed again. One of an old game is chained by the rows that it was written with, which
    may be of former versions."""
    sealed = seal_entry(state, chain_state, pile_tracker, entry)
    format_, at_ms, _, _, _, public, _, _ = unpack(data)
    if format_ != UNSEALED_FORMAT:
        return sealed
    public_bytes = pack_public(at_ms, split_by_visibility(())._replace(public=public))
    return sealed._replace(
        public=public_bytes, head=next_head(chain_state.head, chain_state.sequence + 1, public_bytes)
    )


def _view_error(state: GameState, entry: Entry, data: bytes, sealed: SealedEntry) -> str:
    """How what the entry tells each differs from what each may know."""
    if sealed.entry == data:
        return ""
    format_, _, _, _, _, public, private, secret = unpack(data)
    if state.ruleset.randomness.sealed != (format_ != UNSEALED_FORMAT):
        return "It isn't in the form that entries of this game have."
    split = split_by_visibility(entry.events)
    if _read_events(dict(enumerate(public))) != _read_events(dict(enumerate(split.public))):
        return "What all are told isn't what all may know."
    logged, expected = (
        {seat: _read_events(private_rows) for seat, private_rows in rows.items()}
        for rows in (private, split.private)
    )
    if logged != expected:
        return "What single seats are told isn't what they may know."
    if _read_events(secret) != _read_events(split.secret):
        return "What is secret isn't what nobody may know."
    return "It isn't written as a referee writes it." if format_ != UNSEALED_FORMAT else ""


def _read_events(rows: Mapping[int, Sequence[object] | None]) -> dict[int, Event | None]:
    return {position: row_to_event(row) if row is not None else None for position, row in rows.items()}


class LogCheck(NamedTuple):
    """What a walk through a log found."""

    chain: list[Finding]
    deal: list[Finding]
    view: list[Finding]
    head: bytes  # as it follows from the log; empty if that can't be read to its end
    over: bool = False  # the game is, at its end

    def checks(self) -> list[Check]:
        return [Check("chain", self.chain), Check("deal", self.deal), Check("view", self.view)]


def check_log(game: str, log: Sequence[bytes], marks: Sequence[bytes]) -> LogCheck:
    """The chain, the deal and the views of a log; `marks` are the heads of its entries, or how each
    begins. After the first entry whose head isn't the marked one, no other is compared."""
    result = LogCheck([], [], [], b"")
    sequence, head, over = 0, initial_head(game), False
    try:
        for resealed in reseal_log(game, log):
            sequence, head = resealed.sequence, resealed.sealed.head
            over = any(isinstance(event, GameEnded) for event in resealed.entry.events)
            if not result.chain and not _matches_mark(head, marks, sequence):
                why = "The head that follows from the log until here isn't the one that was kept."
                result.chain.append(Finding(sequence, "chain", why))
            if resealed.deal_error:
                result.deal.append(Finding(sequence, "deal", resealed.deal_error))
            if resealed.view_error:
                result.view.append(Finding(sequence, "view", resealed.view_error))
    except REPLAY_ERRORS as error:
        result.chain.append(Finding(sequence + 1, "chain", f"It can't be read or folded: {error}."))
        return result
    if not result.chain and len(marks) != len(log):
        why = f"The log has {len(log)} entries, and {len(marks)} heads were kept."
        result.chain.append(Finding(min(len(log), len(marks)) + 1, "chain", why))
    return result._replace(head=head, over=over)


def _matches_mark(head: bytes, marks: Sequence[bytes], sequence: int) -> bool:
    return sequence > len(marks) or (bool(marks[sequence - 1]) and head.startswith(marks[sequence - 1]))


def recompute_heads(game: str, public_entries: Iterable[tuple[int, bytes, bytes]]) -> list[bytes]:
    """The head after each entry, of `shown`: its number, its public bytes, and the head that all were
    told with it (empty for entries from before there was a chain). Raises Corrupt: they were told another
    than follows from what they were shown."""
    heads, head = [], initial_head(game)
    for sequence, public, stored_head in public_entries:
        head = next_head(head, sequence, public)
        if stored_head and stored_head != head:
            raise CorruptDataError(
                f"the head that was told after entry {sequence} of {game} isn't that of the entries until there"
            )
        heads.append(head)
    return heads


def check_file(
    file: GameFile, key: bytes | None = None, noted_heads: Mapping[int, bytes] | None = None
) -> list[Check]:
    """The same of a game's file, and its signature: by whoever has its key, or by this `key`. `kept` are
    heads, by number, that somebody wrote down while the game was played."""
    marks = _split_marks(file)
    for sequence, head in (noted_heads or {}).items():
        if 0 < sequence <= len(marks):
            marks[sequence - 1] = head
    result = check_log(file.game, file.entries, marks)
    if file.number != len(file.entries):
        why = f"The file names entry {file.number} as the last, and has {len(file.entries)}."
        result.chain.append(Finding(min(max(0, file.number), len(file.entries)) + 1, "chain", why))
    elif result.head and result.head != file.head:
        why = "The head that the file names isn't the one that follows from its log."
        result.chain.append(Finding(None, "chain", why))
    elif result.head and not result.over:
        result.chain.append(Finding(None, "chain", "The game isn't over at the end of its file."))
    return [*result.checks(), check_signature(file, key)]


def check_file_bytes(
    data: bytes, key: bytes | None = None, noted_heads: Mapping[int, bytes] | None = None
) -> tuple[GameFile, list[Check]]:
    """The same of a file's bytes. One that is damaged has a finding at the first entry that its marks
    don't confirm. Raises Unreadable where there is nothing to check."""
    try:
        file = decode_game_file(data)
    except GameFileError as error:
        recovered = recover_game_file(data) if data.startswith(FILE_MAGIC) else None
        if recovered is None:
            raise
        return recovered, [Check("chain", [_damage_finding(recovered, error)])]
    return file, check_file(file, key, noted_heads)


def _damage_finding(file: GameFile, error: GameFileError) -> Finding:
    checks = check_log(file.game, file.entries, _split_marks(file)).checks()
    sequence = min(
        (finding.number for check in checks for finding in check.findings if finding.number), default=None
    )
    return Finding(sequence, "chain", f"{str(error)[:1].upper()}{str(error)[1:]}.")


def _split_marks(file: GameFile) -> list[bytes]:
    """How the head after each entry begins."""
    return [file.marks[offset : offset + MARK_BYTES] for offset in range(0, len(file.marks), MARK_BYTES)]


def check_signature(file: GameFile, key: bytes | None) -> Check:
    """Whether the house signed the file's last head."""
    if key is not None and key != file.key:
        return Check(
            "signature", [Finding(None, "signature", f"It is signed with the key {file.key.hex()}.")]
        )
    if not is_signed(build_statement(file.game, file.number, file.head), file.signature, file.key):
        return Check("signature", [Finding(None, "signature", "The signature isn't of this game and head.")])
    return Check("signature")
