"""Checks that need only a log, or a game's file: its chain, its deal, the views that follow, and each command decided again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final, Literal, NamedTuple, get_args

from schemas.errors import CorruptDataError
from schemas.events import CommandRefused, Event, GameCreated, GameEnded, write_event
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head
from schemas.stored.player_names import committed_names, holds_name_and_commitment, pack_names, unpack_names
from services.archive import (
    FILE_MAGIC,
    MARK_BYTES,
    GameFile,
    GameFileError,
    TrustedKeys,
    build_statement,
    decode_game_file,
    is_signed,
    recover_game_file,
)
from services.verification.replay import Pass, Replay, ReplayedDecision, ResealedEntry

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


MAX_VALUE_LENGTH: Final = 120  # characters


def replay_findings(replay: Replay) -> Iterator[Finding]:
    """The entries that the rules don't decide so. Ends at the first that can't be read or applied: nothing after it
    means anything."""
    first_answers: dict[tuple[Seat | None, str], int] = {}
    entries, error = replay.redecided
    for sequence, entry, decision, early_by_ms in entries:
        if early_by_ms:
            yield Finding(
                sequence, "fold", f"Its time is {early_by_ms} ms before that of the entry before it."
            )
        earlier = first_answers.setdefault((entry.seat, entry.id), sequence)
        if earlier != sequence:
            command = "The command" if entry.seat is None else f"Command {entry.id}"
            yield Finding(sequence, "verdict", f"{command} had its verdict in entry {earlier} already.")
        if why := verdict_doubt(entry, decision):
            yield Finding(sequence, "verdict", why)
    if error is not None:
        yield Finding(len(entries) + 1, "fold", f"The entry can't be read or folded: {error}.")
    elif not entries:
        yield Finding(None, "fold", "The log is empty.")


def verdict_doubt(entry: Entry, decision: ReplayedDecision) -> str:
    """Say how an entry differs from the rules' decision on its command; empty if it doesn't."""
    if decision.error is not None:
        return f"The rules have no answer to this command: {decision.error}."
    if decision.agrees_with(entry.events):
        return ""
    return difference(entry.events, decision.events, decision.rejection)


def difference(
    logged: Sequence[Event], replayed: Sequence[Event], rejection: CommandRefusedError | None = None
) -> str:
    """Say how the logged events differ from those that the rules decide, or from their rejection."""
    if rejection is not None:
        return f"The log has no place for this command ({rejection.rule}: {rejection.reason}), and yet it stands there."
    logged_refusal, expected_refusal = _find_refusal(logged), _find_refusal(replayed)
    if logged_refusal and expected_refusal and logged_refusal.rule != expected_refusal.rule:
        return f"It was refused by {logged_refusal.rule}; the rules refuse it by {expected_refusal.rule}: {expected_refusal.why}."
    if logged_refusal and not expected_refusal:
        return f"It was refused by {logged_refusal.rule} ({logged_refusal.why}), but the rules accept it."
    if expected_refusal and not logged_refusal:
        return f"It was accepted, but the rules refuse it by {expected_refusal.rule}: {expected_refusal.why}."
    for position, (logged_event, replayed_event) in enumerate(zip_longest(logged, replayed), 1):
        if logged_event != replayed_event:
            return f"{_event_difference(logged_event, replayed_event)} (event {position} of the entry)."
    return "The events are the same."


def _event_difference(logged: Event | None, replayed: Event | None) -> str:
    if logged is None and replayed is not None:
        return f"By the rules it also comes to {_event_name(replayed)}, which the log leaves out"
    if logged is not None and replayed is None:
        return f"The log has {_event_name(logged)}, which doesn't come of it by the rules"
    assert logged is not None
    assert replayed is not None
    if type(logged) is not type(replayed):
        return f"The log has {_event_name(logged)}; by the rules it is {_event_name(replayed)}"
    field_path, logged_value, replayed_value = _first_difference(write_event(logged), write_event(replayed))
    logged_text, replayed_text = value_in_words(logged_value), value_in_words(replayed_value)
    return f"The log has {_event_name(logged)} with {logged_text} as the {_path_in_words(field_path)}; by the rules it is {replayed_text}"


def _first_difference(logged: object, replayed: object, path: str = "") -> tuple[str, object, object]:
    """The path at which two JSON-like values first differ, and the value of each there."""
    if isinstance(logged, dict) and isinstance(replayed, dict):
        pairs = (
            (str(key), logged.get(key), replayed.get(key))
            for key in (*logged, *(replayed.keys() - logged.keys()))
        )
    elif isinstance(logged, list | tuple) and isinstance(replayed, list | tuple):
        pairs = ((str(n), a, b) for n, (a, b) in enumerate(zip_longest(logged, replayed)))
    else:
        return path, logged, replayed
    for key, logged_item, replayed_item in pairs:
        if logged_item != replayed_item:
            return _first_difference(logged_item, replayed_item, f"{path}.{key}" if path else key)
    return path, logged, replayed


def value_in_words(value: object) -> str:
    """A JSON-like value as people read it, in at most MAX_VALUE_LENGTH characters."""
    match value:
        case bool():
            text = "yes" if value else "no"
        case int():
            text = str(value)
        case _ if not value:
            text = "nothing"
        case dict() if all(isinstance(count, int) for count in value.values()):
            text = ", ".join(f"{count} {name}" for name, count in value.items())
        case dict():
            text = ", ".join(f"{name} {value_in_words(item)}" for name, item in value.items())
        case list() | tuple():
            text = ", ".join(value_in_words(item) for item in value)
        case _:
            text = str(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 4]} ..."


def _path_in_words(path: str) -> str:
    """A path of fields and places, from the inside out: "total of no. 2 of scores"."""
    parts = [f"no. {int(part) + 1}" if part.isdigit() else part for part in reversed(path.split("."))]
    return " of ".join(part.replace("_", " ") for part in parts)


def _event_name(event: Event) -> str:
    return event.type.replace("_", " ")


def _find_refusal(events: Sequence[Event]) -> CommandRefused | None:
    first = events[0] if events else None
    return first if isinstance(first, CommandRefused) else None
