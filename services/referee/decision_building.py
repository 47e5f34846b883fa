"""What a command leads to: its events, sealed, and the request that appends them with what the game needs next: its
wake-up, tasks for its bots, its eviction. Pure but for the clocks."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final, NamedTuple

from schemas.commands import CommandEnvelope, CreateGame
from schemas.events import Event, GameCreated, GameEnded, GameStarted
from schemas.field_types import Seat
from schemas.stored.codec import digest_command
from schemas.stored.entries import Entry
from schemas.stored.player_names import SaltedNames
from services.ledger import AppendRequest, BotTask, DuplicateCommand, EvictAt, EvictionChange
from services.referee.fork_expansion import PendingCommand
from services.referee.game_cache import CachedGame
from services.referee.games import GameState, UnloggedRejectionError, decide_envelope
from services.referee.games.proof.sealing import ChainState, seal_entry
from services.referee.player_names import NAMING, SaltedEnvelope, require_own_names, salt_names

DAY_MS: Final = 86_400_000
BOT_SILENCE_MS: Final = 30_000  # of a bot, before its task is sent again


class Clocks(NamedTuple):
    """The clocks of a referee: the game clock decides, the wall clock is only recorded. Both are in
    milliseconds, the wall clock's since 1970. `retention_ms` is how long a game that isn't being
    played stays in the engine."""

    game_time_ms: Callable[[], int]
    wall_time_ms: Callable[[], int]
    retention_ms: int = 30 * DAY_MS
    unstarted_ms: int = 30 * DAY_MS  # of a game that was never started


class Decision(NamedTuple):
    """The events that a command leads to, and the request that writes them."""

    command: PendingCommand
    request: AppendRequest | DuplicateCommand
    events: tuple[Event, ...]


class UnloggedRejection(NamedTuple):
    """A command that gets no entry, and why, by the state that it was decided on."""

    command: PendingCommand
    rule: str
    reason: str


def build_decision(
    command: PendingCommand,
    cached_game: CachedGame,
    clocks: Clocks,
    new_seed: Callable[[], str],
    known_names: SaltedNames,
) -> Decision:
    """Decide a command; the cached game moves on as if the entry were appended already. `known_names` are those
    beside the game's log, where the command brings one.

    Raises UnloggedRejectionError: the log takes no entry for it."""
    delivery, envelope, state = command.delivery, command.envelope, cached_game.state
    if cached_game.is_stored:  # a verdict that the command has is in the file, where gateways find it
        raise UnloggedRejectionError("GAME-3", "the game is over")
    if cached_game.has_answered(envelope.seat, envelope.id):
        duplicate = DuplicateCommand(delivery, envelope.game, envelope.seat, envelope.id)
        return Decision(command, duplicate, ())
    pending_before, now_ms = set(state.pending_choices), clocks.wall_time_ms()
    seed, salted = "", None
    if command.expansion or envelope.command.__class__ in NAMING:
        seed, salted = _seed_and_salt(command, state, known_names, new_seed)
        envelope = salted.envelope
    events = decide_envelope(state, envelope, clocks.game_time_ms(), seed, created_at_ms=now_ms)
    chain_state = ChainState(cached_game.length, cached_game.head, cached_game.last_private_sequences)
    entry = Entry(state.at_ms, envelope.id, envelope.seat, envelope.command, events)
    sealed_entry = seal_entry(state, chain_state, cached_game.pile_tracker, entry)
    cached_game.record_entry(envelope.seat, envelope.id, [seat for seat, _ in sealed_entry.private_parts])
    cached_game.head = sealed_entry.head
    request = AppendRequest(
        delivery=delivery,
        game=envelope.game,
        expected_length=chain_state.sequence,
        previous_head=chain_state.head,
        sender=envelope.seat,
        command_id=envelope.id,
        at_ms=now_ms,
        secret=sealed_entry.secret,
        public=sealed_entry.public,
        head=sealed_entry.head,
        private_parts=sealed_entry.private_parts,
        names=salted.kept_beside(events) if salted else (),
        names_left=salted.left_by(events) if salted else (),
        tasks=bot_tasks(state, cached_game.length, envelope.seat, pending_before),
        deadline_ms=next_wakeup(state),
        eviction=eviction_after(events, now_ms + clocks.retention_ms, now_ms + clocks.unstarted_ms),
        is_listed=state.access.is_listed,
        command_digest=digest_command(command.envelope.command),  # as it was sent
    )
    return Decision(command, request, events)


def _seed_and_salt(
    command: PendingCommand, state: GameState, known_names: SaltedNames, new_seed: Callable[[], str]
) -> tuple[str, SaltedEnvelope]:
    """The seed of the game that the command creates, if it creates one, and its envelope as it is decided, a fork as the
    command that creates the game. Raises UnloggedRejectionError."""
    fork = command.expansion
    envelope, seed = (
        (fork.expand(command.envelope), fork.seed) if fork else take_seed(command.envelope, new_seed)
    )
    require_own_names(envelope.command)
    return seed, salt_names(envelope, state, known_names, new_seed)


def take_seed(envelope: CommandEnvelope, new_seed: Callable[[], str]) -> tuple[CommandEnvelope, str]:
    """The envelope as it is decided and logged, and the seed (64 hex digits) of the game that it creates if it names
    none; empty for a command that creates no game. `new_seed` returns random ones.

    A seed's name can be guessed, and its hash is public: anybody who knows `friday` would read the whole deck. So where
    a person may sit, the seed is a hash of the name and of 32 random bytes. Games of bots alone are dealt by the name, so
    that all of one name are equal."""
    command = envelope.command
    if not isinstance(command, CreateGame):
        return envelope, ""
    seed = new_seed()
    if command.seed is None or all(plan.kind == "bot" for plan in command.seats):
        return envelope, seed
    mixed = sha256(b"ledgerline/mixed-seed/1" + bytes.fromhex(seed) + command.seed.encode()).hexdigest()
    return replace(envelope, command=replace(command, seed=None)), mixed


def next_wakeup(state: GameState) -> int | None:
    """When a referee must look at the game again, in milliseconds of the game clock: a seat's clock
    runs out, the next game of a play-off is to follow, or a bot was silent for so long that its task
    may be lost. None where nothing is to be done."""
    if state.next_play_off is not None:
        return state.opened_at_ms + state.at_ms
    deadline = state.next_deadline()
    wakeups_ms = [deadline[0]] if deadline else []
    if state.started and not state.result:
        seat_states = state.seats
        if [seat for seat in state.pending_choices if seat_states[seat].policy]:
            wakeups_ms.append(state.at_ms + BOT_SILENCE_MS)
    return state.opened_at_ms + min(wakeups_ms) if wakeups_ms else None


def bot_tasks(
    state: GameState, sequence: int, sender: Seat | None = None, pending_before: Container[Seat] = ()
) -> list[BotTask]:
    """A task for each bot that the game waits for since this entry: it had nothing to choose before, or sent the command,
    which may have been refused."""
    seat_states = state.seats
    return [
        BotTask(state.game, seat, sequence, policy)
        for seat in state.pending_choices
        if (seat not in pending_before or seat == sender) and (policy := seat_states[seat].policy)
    ]


def eviction_after(
    events: Sequence[Event], ended_eviction_ms: int, unstarted_eviction_ms: int
) -> EvictAt | EvictionChange:
    """What these events do to the game's eviction time: a game that nobody plays (any more, or yet) may leave the
    engine at one of these times of the wall clock."""
    for event in reversed(events):
        cls = event.__class__  # few of all events do anything to it
        if cls is GameEnded:
            return EvictAt(ended_eviction_ms)
        if cls is GameCreated:
            return EvictAt(unstarted_eviction_ms)
        if cls is GameStarted:
            return EvictionChange.CLEAR
    return EvictionChange.KEEP
