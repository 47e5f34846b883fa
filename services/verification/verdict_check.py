"""A log folded again, and every command in it decided again, by the edition of the rules that its first
entry names.

Two tables go side by side: one is told what the log tells, the other what the rules say to the same
commands. As long as they say the same, the log is what an honest referee writes; where they differ
there is a finding, and the second table goes on from the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from schemas.codec import unpack_entry
from schemas.commands import CommandEnvelope
from schemas.entries import Entry
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import CommandRefused, Event, GameCreated, SeedSealed
from schemas.field_types import Seat
from services.referee.rules import GameState, UnloggedRejectionError, decide_envelope, fold_events
from services.referee.rules.ruleset import Ruleset
from services.referee.rules.rulesets import RULESET_VERSIONS
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.verification.findings import Finding
from services.verification.verdict_diff import difference

REPLAY_ERRORS: Final = (
    CorruptDataError,
    InvalidInputError,
    *PROGRAMMING_ERRORS,
)  # what damage may make of reading, folding or judging


class ReplayContext(NamedTuple):
    """What a log's first entry settles for all its commands."""

    game: str
    created_ms: int
    opened_ms: int
    seed: str
    rulesets: Mapping[str, Ruleset]


class ReplayedDecision(NamedTuple):
    """What the rules say to a command: these events; or none, where the log has no place for it."""

    events: tuple[Event, ...]
    rejection: UnloggedRejectionError | None = None


def read_replay_context(game: str, first: Entry) -> ReplayContext:
    """What all commands of this game are decided by. Raises Corrupt where no game begins like this."""
    if len(first.events) < 2:
        raise CorruptDataError("a log begins with a game's creation")
    game_created, seed_sealed = first.events[:2]
    if not isinstance(game_created, GameCreated) or not isinstance(seed_sealed, SeedSealed):
        raise CorruptDataError("a log begins with a game's creation")
    ruleset = RULESET_VERSIONS.get((game_created.ruleset, game_created.rules))
    if ruleset is None:
        raise CorruptDataError(
            f"nobody knows version {game_created.rules} of the rules {game_created.ruleset}"
        )
    return ReplayContext(
        game,
        game_created.created,
        game_created.opened,
        seed_sealed.seed or "",
        {game_created.ruleset: ruleset},
    )


def decide_again(context: ReplayContext, state: GameState, entry: Entry) -> ReplayedDecision:
    """What the rules say to this entry's command, on the table before it, which takes on the verdict."""
    envelope = CommandEnvelope(entry.id, context.game, entry.seat, entry.command)
    now_ms = context.opened_ms + entry.at
    try:
        events = decide_envelope(
            state, envelope, now_ms, context.seed, created_at_ms=context.created_ms, rulesets=context.rulesets
        )  # fmt: skip
    except UnloggedRejectionError as rejection:
        return ReplayedDecision((), rejection)
    return ReplayedDecision(events)


def same_decision(decision: ReplayedDecision, logged_events: tuple[Event, ...]) -> bool:
    """Whether the log tells what the rules say. A rule may be worded better, but never be another."""
    if decision.rejection is not None:
        return False
    return decision.events == logged_events or [*map(_without_wording, decision.events)] == [
        *map(_without_wording, logged_events)
    ]


def replay_findings(game: str, log: Iterable[bytes]) -> Iterator[Finding]:
    """Everything in these entries that isn't what the rules say to its command. Ends at the first
    entry that can't be read or folded: nothing after it means anything."""
    logged_state, replayed_state = GameState(), GameState()
    context: ReplayContext | None = None
    first_answers: dict[tuple[Seat | None, str], int] = {}
    for sequence, data in enumerate(log, 1):
        try:
            entry = unpack_entry(data)
            context = context or read_replay_context(game, entry)
            early_by_ms = logged_state.at_ms - entry.at
            fold_events(logged_state, entry.at, entry.events)
        except REPLAY_ERRORS as error:
            yield Finding(sequence, "fold", f"The entry can't be read or folded: {_error_text(error)}.")
            return
        if early_by_ms > 0:
            yield Finding(
                sequence, "fold", f"Its time is {early_by_ms} ms before that of the entry before it."
            )
        earlier = first_answers.setdefault((entry.seat, entry.id), sequence)
        if earlier != sequence:
            yield Finding(
                sequence, "verdict", f"Command {entry.id} had its verdict in entry {earlier} already."
            )
        if why := _replay_difference(context, replayed_state, entry):
            yield Finding(sequence, "verdict", why)
            replayed_state = logged_state.copy()
    if context is None:
        yield Finding(None, "fold", "The log is empty.")


def _replay_difference(context: ReplayContext, replayed_state: GameState, entry: Entry) -> str:
    """How the entry differs from what the rules say; empty if it doesn't."""
    try:
        decision = decide_again(context, replayed_state, entry)
    except REPLAY_ERRORS as error:
        return f"On the table before it the rules have no answer to its command: {_error_text(error)}."
    return (
        ""
        if same_decision(decision, entry.events)
        else difference(entry.events, decision.events, decision.rejection)
    )


def _without_wording(event: Event) -> Event:
    return replace(event, why="") if isinstance(event, CommandRefused) else event


def _error_text(error: Exception) -> str:
    return (
        str(error)
        if isinstance(error, CorruptDataError | InvalidInputError)
        else f"{type(error).__name__}: {error}"
    )
