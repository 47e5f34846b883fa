"""The commands of a log decided again, by the version of the rules that its first entry names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from schemas.commands import CommandEnvelope
from schemas.errors import CorruptDataError
from schemas.events import CommandRefused, Event, GameCreated, SeatTaken, SeedSealed
from schemas.stored.entries import Entry
from services.referee.games import GameState, UnloggedRejectionError, decide_envelope, fold_events
from services.referee.games.found_games import find_version
from services.referee.games.state import Ruleset
from services.verification.replay_errors import REPLAY_ERRORS, replaying


class ReplayContext(NamedTuple):
    """The settings of a game that its log's first entry has for all commands."""

    game: str
    created_ms: int
    opened_ms: int
    seed: str
    rulesets: Mapping[str, Ruleset]


class ReplayedDecision(NamedTuple):
    """The rules' decision on a command: events; or no entry at all, because of a rejection or an error."""

    events: tuple[Event, ...] = ()
    rejection: UnloggedRejectionError | None = None
    error: Exception | None = None  # the rules can't decide it on this state

    def agrees_with(self, logged_events: tuple[Event, ...]) -> bool:
        """Whether the log has the same decision. A refusal may be worded otherwise, by the same rule."""
        if self.rejection is not None or self.error is not None:
            return False
        return self.events == logged_events or [*map(_without_wording, self.events)] == [
            *map(_without_wording, logged_events)
        ]


class RedecidedEntry(NamedTuple):
    """One entry of a log, its command decided again."""

    sequence: int
    entry: Entry
    decision: ReplayedDecision
    early_by_ms: int  # how much its time lies before that of the entry before it


def redecide_entries(game: str, entries: Iterable[Entry]) -> Iterator[RedecidedEntry]:
    """Decide the command of every entry of a log again, in order, on a state of its own.

    That state takes on what the rules decide, another one what the log has. While the two agree, the log is what an honest
    referee writes; after a difference the first goes on from the second. Raises one of REPLAY_ERRORS at the first entry
    that can't be applied, or that follows a creation which the rules don't decide."""
    context: ReplayContext | None = None
    ruled, logged = GameState(), GameState()
    for sequence, entry in enumerate(entries, 1):
        early_by_ms = 0
        with replaying():
            context = context or read_replay_context(game, entry)
            hash((entry.seat, entry.id))  # a sender and a command id, of whatever type
            early_by_ms = max(0, logged.at_ms - entry.at)
            fold_events(logged, entry.at, entry.events)
        assert context is not None, "the first entry has it"
        decision = decide_again(context, ruled, entry)
        if decision.agrees_with(entry.events):
            decision = ReplayedDecision(entry.events)  # equal, and kept once
        else:
            ruled = logged.copy()
        yield RedecidedEntry(sequence, entry, decision, early_by_ms)
        if sequence == 1:
            require_ruled_creation(decision, entry)


def require_ruled_creation(decision: ReplayedDecision, creation: Entry) -> None:
    """Require that the rules create the logged game, whatever the names: with its board, options and position.

    Otherwise these may be anything, and what the rules search on them has no bound. Raises CorruptDataError."""
    if [*map(_without_names, decision.events)] != [*map(_without_names, creation.events)]:
        raise CorruptDataError(
            "the rules don't create a game with the board, options and position of entry 1"
        )


def _without_names(event: Event) -> Event | None:
    if isinstance(event, SeedSealed):  # its commitment is made with the name
        return None
    if isinstance(event, SeatTaken):
        return replace(event, name="")
    return replace(event, game="") if isinstance(event, GameCreated) else event


def read_replay_context(game: str, first: Entry) -> ReplayContext:
    """The context of all commands, from the first entry. Raises CorruptDataError if no game begins like this."""
    if len(first.events) < 2:
        raise CorruptDataError("a log begins with a game's creation")
    game_created, seed_sealed = first.events[:2]
    if not isinstance(game_created, GameCreated) or not isinstance(seed_sealed, SeedSealed):
        raise CorruptDataError("a log begins with a game's creation")
    ruleset = find_version(game_created.ruleset, game_created.rules)
    return ReplayContext(
        game=game,
        created_ms=game_created.created,
        opened_ms=game_created.opened,
        seed=seed_sealed.seed or "",
        rulesets={game_created.ruleset: ruleset},
    )


def decide_again(context: ReplayContext, state: GameState, entry: Entry) -> ReplayedDecision:
    """Decide an entry's command again. The decision is applied to the state, which is that before the entry."""
    try:
        with replaying():
            events = decide_envelope(
                state,
                CommandEnvelope(entry.id, context.game, entry.seat, entry.command),
                context.opened_ms + entry.at,
                context.seed,
                created_at_ms=context.created_ms,
                rulesets=context.rulesets,
            )
    except UnloggedRejectionError as rejection:
        return ReplayedDecision(rejection=rejection)
    except REPLAY_ERRORS as error:
        return ReplayedDecision(error=error)
    return ReplayedDecision(events)


def _without_wording(event: Event) -> Event:
    return replace(event, why="") if isinstance(event, CommandRefused) else event
