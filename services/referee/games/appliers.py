"""The fold: every event is applied to the state by one small function, the same for every ruleset; a game's own events have
theirs in its folder.

No judgement here. An event that reached the log did happen, so nothing is checked but that the log fits the board it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias, TypeVar

from schemas.contract import EVENT_REGISTRY, EventContract
from schemas.events import (
    FIELDS,
    AccessSet,
    CommandRefused,
    DeckShuffled,
    Event,
    GameCreated,
    GameEnded,
    GameForked,
    GameStarted,
    HandDealt,
    PlayOffCalled,
    PlayOffEnded,
    PlayResumed,
    SeatCleared,
    SeatFreed,
    SeatGone,
    SeatTaken,
    SeedRevealed,
    SeedSealed,
    TurnStarted,
)  # fmt: skip  # fmt: skip
from schemas.game_options import Access
from schemas.registry import HandlerTable, OfItsKey
from schemas.stored.codec import unpack_for_fold
from services.referee.games.fair_randomness import (
    compute_setup_digest,
    derive_shuffle_key,
)  # fmt: skip
from services.referee.games.found_games import find_version
from services.referee.games.state import ACTION, GameState, SeatState, Undo, read_options

E = TypeVar("E", bound=EventContract)
Applier: TypeAlias = Callable[[GameState, OfItsKey], None]

APPLIER_TABLE: Final[HandlerTable[EventContract, Applier]] = HandlerTable("applier", EVENT_REGISTRY)


def applies(cls: type[E]) -> Callable[[Callable[[GameState, E], None]], Callable[[GameState, E], None]]:
    """The decorator of the function that applies these events. It changes the state in place, and may take
    for granted that the event fits it. Raises TypeError where the event has an applier already."""
    return APPLIER_TABLE(cls)


MAX_SETUP_DIGESTS: Final = 256  # that are kept: by ruleset, board, its digest, and seats
_SETUP_DIGESTS: Final[dict[object, str]] = {}


def apply_own(state: GameState, event: Event) -> None:
    """Change the game's own part by an event that every game has, where its ruleset says so."""
    applier = state.ruleset.own_appliers.get(event.__class__)
    if applier is not None:
        applier(state, event)


@applies(GameCreated)
def game_created(state: GameState, event: GameCreated) -> None:
    state.game = event.game
    ruleset = state.ruleset = find_version(event.ruleset, event.rules)
    state.rule_options = rule_options = read_options(ruleset, event.parameters)
    key = None
    if rule_options is ruleset.rule_options:  # as most games have them
        key = ruleset, event.board, event.board_digest, len(event.seats)
    state.setup_digest = _SETUP_DIGESTS.get(key) or compute_setup_digest(event)
    if key is not None and len(_SETUP_DIGESTS) < MAX_SETUP_DIGESTS:
        _SETUP_DIGESTS[key] = state.setup_digest
    state.created_at_ms, state.opened_at_ms, state.play_off = event.created, event.opened, event.play_off
    for plan in event.seats:
        seat_state: SeatState = SeatState(
            plan.kind, plan.name or state.name_of(plan.name_commitment), plan.policy
        )
        seat_state.clock_ms = rule_options.clock_ms or 0
        state.seats.append(seat_state)
    state.turn_order = tuple(range(len(event.seats)))
    apply_own(state, event)


@applies(AccessSet)
def access_set(state: GameState, event: AccessSet) -> None:
    state.access = Access(*(getattr(event, name) for name in FIELDS[AccessSet]))


@applies(SeedSealed)
def seed_sealed(state: GameState, event: SeedSealed) -> None:
    state.commitment, state.seed_was_named, state.seed = event.commitment, event.given, event.seed


@applies(SeatTaken)
def seat_taken(state: GameState, event: SeatTaken) -> None:
    seat_state = state.seats[event.seat]
    seat_state.name, seat_state.policy, seat_state.seat_secret, seat_state.is_seated = (
        event.name or state.name_of(event.name_commitment),
        event.policy,
        event.luck,
        True,
    )
    seat_state.kind = "human" if event.policy is None else "bot"
    seat_state.name_commitment = event.name_commitment
    seat_state.age, seat_state.contribution = event.age, event.contribution


@applies(SeatFreed)
def seat_freed(state: GameState, event: SeatFreed) -> None:
    """Nothing of who sat there stays: neither name nor secret nor contribution, nor how often it was refused."""
    seat_state = state.seats[event.seat]
    seat_state.is_seated, seat_state.kind, seat_state.name = False, "human", ""
    seat_state.policy = seat_state.name_commitment = seat_state.age = None
    seat_state.seat_secret = seat_state.contribution = None
    seat_state.times_freed += 1
    seat_state.freed_at_ms = state.at_ms
    state.refusal_counts.pop(event.seat, None)


@applies(GameStarted)
def game_started(state: GameState, event: GameStarted) -> None:
    state.started = True
    state.turn_order = event.order
    state.refusal_counts.clear()
    if state.seed is not None:  # nobody but the referee has it
        state.shuffle_key = derive_shuffle_key(state)


@applies(DeckShuffled)
def deck_shuffled(state: GameState, event: DeckShuffled) -> None:
    apply_own(state, event)
    state.epoch += 1


@applies(GameForked)
def game_forked(state: GameState, event: GameForked) -> None:
    state.fork_origin = event.of, event.at


@applies(PlayResumed)
def play_resumed(state: GameState, event: PlayResumed) -> None:
    assert state.fork_turn_state is not None, "a moment was laid"
    state.turn, pending_choices = state.fork_turn_state
    for seat, choice, remaining_ms in pending_choices:
        state.pending_choices[seat] = choice
        state.seats[seat].deadline_ms = None if remaining_ms is None else state.at_ms + remaining_ms


@applies(TurnStarted)
def turn_started(state: GameState, event: TurnStarted) -> None:
    seat = event.seat
    seat_state = state.seats[seat]
    seat_state.deadline_ms = deadline_for(state, seat_state)
    state.turn = seat
    state.pending_choices = {seat: ACTION}
    own_applier = state.ruleset.own_appliers.get(
        TurnStarted
    )  # not by `apply_own`: every other event is one of these
    if own_applier is not None:
        own_applier(state, event)
    state.refusal_counts.clear()


def deadline_for(state: GameState, seat_state: SeatState) -> int | None:
    """When a seat's time is over if its choice is pending from now on, in milliseconds of game time: its
    clock has run down (CLOCK-1), or the move's limit is reached. None if neither is limited."""
    rule_options = state.rule_options
    clock_ms, move_ms = rule_options.clock_ms, rule_options.move_ms
    if clock_ms is None:
        return None if move_ms is None else state.at_ms + move_ms
    return state.at_ms + (seat_state.clock_ms if move_ms is None else min(seat_state.clock_ms, move_ms))


@applies(SeatGone)
def seat_gone(state: GameState, event: SeatGone) -> None:
    state.seats[event.seat].exit_reason = event.why
    state.pending_choices.pop(event.seat, None)
    apply_own(state, event)


for _cls in (HandDealt, PlayOffEnded, SeatCleared):  # nothing of them is every game's
    applies(_cls)(apply_own)


@applies(PlayOffCalled)
def play_off_called(state: GameState, event: PlayOffCalled) -> None:
    state.next_play_off = event


@applies(SeedRevealed)
def seed_revealed(state: GameState, event: SeedRevealed) -> None:
    state.seed = event.seed


@applies(GameEnded)
def game_ended(state: GameState, event: GameEnded) -> None:
    state.result = event
    state.turn = None
    state.pending_choices = {}


@applies(CommandRefused)
def command_refused(state: GameState, event: CommandRefused) -> None:
    state.refusal_counts[event.seat] = state.refusal_counts.get(event.seat, 0) + 1


MOVER: Final = "seat"  # the field of an event that begins a move


def apply_noting(state: GameState, event: Event, applier: Callable[[GameState, OfItsKey], None]) -> None:
    """Apply an event; keep the state before a move that can be taken back for as long as it can."""
    if event.in_move == "begins":
        before = state.copy()
        before.undo = None
        applier(state, event)
        state.undo = Undo(getattr(event, MOVER), before)
        return
    if event.in_move == "ends":
        state.undo = None
    applier(state, event)


def evolve(state: GameState, event: Event) -> None:
    """Apply an event to a state that the caller owns."""
    if state.access.undo == "never":
        APPLIERS[type(event)](state, event)
    else:
        apply_noting(state, event, APPLIERS[type(event)])


def advance_clocks(state: GameState, at_ms: int) -> None:
    """Let the recorded time pass, on the clocks of the seats with a pending choice (CLOCK-1).

    `at_ms` is the entry's time since the game was opened. A time before the last one (a clock was set
    back) counts as no time."""
    if state.started and state.rule_options.clock_ms is not None:
        elapsed_ms = max(0, at_ms - state.at_ms)
        for seat in state.pending_choices:
            state.seats[seat].clock_ms -= elapsed_ms
    state.at_ms = max(state.at_ms, at_ms)


def fold(entries: Iterable[bytes], state: GameState | None = None) -> GameState:
    """The state after these log entries (as stored), going on from `state`, if given.

    Raises CorruptDataError for an entry that can't be read; one that the rules never wrote may raise any of
    PROGRAMMING_ERRORS."""
    state = state or GameState()
    for data in entries:
        at_ms, _, _, _, events = unpack_for_fold(data)
        fold_events(state, at_ms, events)
    return state


def fold_events(state: GameState, at_ms: int, events: Iterable[Event]) -> None:
    """Apply one entry: its time, then its events."""
    advance_clocks(state, at_ms)
    if state.access.undo != "never":
        apply_each(state, events)
        return
    for event in events:
        APPLIERS[type(event)](state, event)


def apply_each(state: GameState, events: Iterable[Event]) -> list[Event]:
    """Apply events in turn, each before the next is asked for. Returns them."""
    applied = []
    if state.access.undo == "never":  # that is set before the first move
        for event in events:
            APPLIERS[type(event)](state, event)
            applied.append(event)
        return applied
    for event in events:
        apply_noting(state, event, APPLIERS[type(event)])
        applied.append(event)
    return applied


APPLIERS: Final = APPLIER_TABLE.functions  # games add theirs when they are added
