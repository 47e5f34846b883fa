"""The non-interference gate: at every position of random games, a viewer and a twin state that looks the same to it.

Both states process the same envelopes, or ones that look the same to the viewer, and everything that the
viewer receives must be the same. A difference raises `LeakError`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final

from schemas.commands import (
    CallTime,
    Command,
    CommandEnvelope,
    CreateGame,
    Leave,
    SeatPlan,
    StartGame,
    TakeSeat,
)
from schemas.field_types import Seat
from schemas.trains.commands import BuildStation, ClaimRoute, DrawMarket, KeepTickets
from services.bots.policies import POLICIES, SLOW_POLICIES
from services.bots.seat_random import SeatRandom
from services.referee.game_cache import CachedGame
from services.referee.games import GameState, legal
from services.referee.games.trains.train_state import TrainState
from services.trains.ai_mas import TTRMap, player_of
from tests.process_faults.seeds import SOAK
from tests.rules.random_commands import command_pool, near_misses
from tests.secrecy import any_game
from tests.secrecy.bare_referee import Referee, branched, received
from tests.secrecy.matches import Match, Step
from tests.secrecy.twins import AnyFuture, Future, Knowledge, future, lookalike, twin, visible_state

POSITIONS: Final = 20_000 if SOAK else 2_000  # of all rulesets in the long test run
AHEAD: Final = 5  # envelopes for which a twin follows the game
WATCHED_EVERY: Final = 3  # stretches of a game, once its seats have chosen tickets
REFUSALS_USED_UP_EVERY: Final = 6
LEGAL_MOST: Final = 3  # legal commands tried at a position; at every ALL_LEGAL_EVERY-th all of them
ALL_LEGAL_EVERY: Final = 25
BOTS_EVERY: Final = 10
SLOW_BOTS_EVERY: Final = (
    8  # of these; else the fallback of a slow policy, whose choices would take most of the time
)
NONSENSE: Final[Sequence[Command]] = (
    ClaimRoute("nowhere-a", {"red": 1}), BuildStation("nowhere", {"locomotive": 1}), DrawMarket(9), KeepTickets((9, 9)),
    StartGame(), TakeSeat("Nobody"), CallTime(0), CreateGame((SeatPlan(),)), Leave(),
)  # fmt: skip


class LeakError(AssertionError):
    """A viewer received something that depends on what it may not know."""


class Gate:
    """Checks positions; counts those checked, the twins that differed from the real state, the commands tried."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.referee = Referee()
        self.pool: list[Command] = []  # legal and illegal commands, made again for each stretch
        self.positions = self.twins = self.tried = 0

    def check(self, match: Match) -> None:
        """Check every position of the game.

        Raises LeakError: when a viewer could distinguish a twin."""
        steps = match.steps()
        while True:
            knowledge = {viewer: known.copy() for viewer, known in match.knowledge.items()}
            ahead = list(islice(steps, AHEAD))
            if not ahead:
                return
            if ahead[0].before.state.turn is not None and self.rng.randrange(WATCHED_EVERY):
                continue
            self.pool = command_pool(self.rng, ahead[0].before.state)
            viewers = [*knowledge] if self.positions % 8 == 0 else [self.rng.choice([*knowledge])]
            for viewer in viewers:
                self.follow_game(ahead, knowledge[viewer])
            self.positions += len(ahead)

    def follow_game(self, steps: Sequence[Step], known: Knowledge) -> None:
        """A twin of the first state follows the game for these steps."""
        first, viewer = steps[0].before, known.viewer
        ahead = future_of(steps, viewer)
        other = branched(first, twin(first.state, known, ahead, self.rng))
        assert visible_state(other.state, viewer) == visible_state(first.state, viewer)
        self.twins += hidden_state(other.state) != hidden_state(first.state)
        for step in steps:
            self.compare(step.before, other.state, known, "a twin on its way")
            self.check_position(step, known)
            envelope = lookalike(other.state, step.envelope, step.outcome.events, ahead, self.rng)
            outcome = self.referee.decide(other, envelope, step.now)
            observed, twin_observed = (
                received(c, viewer, envelope.seat, same_seed=ahead.shuffles) for c in (step.outcome, outcome)
            )
            require_same(observed, twin_observed, viewer, step.envelope)
            for event in step.outcome.events:
                known.apply(event)
        last = branched(steps[-1].before)
        self.referee.decide(last, steps[-1].envelope, steps[-1].now)
        require_same(
            visible_state(last.state, viewer), visible_state(other.state, viewer), viewer, steps[-1].envelope
        )

    def check_position(self, step: Step, known: Knowledge) -> None:
        """Any command that might come next gives the viewer the same on a state whose hidden cards are dealt afresh."""
        cached_game, viewer = step.before, known.viewer
        if viewer is not None and self.rng.randrange(REFUSALS_USED_UP_EVERY) == 0:
            cached_game = branched(cached_game)  # no more of its refusals are logged
            cached_game.state.refusal_counts[viewer] = cached_game.state.rule_options.refusals_kept
        twins = TwinCache(cached_game.state, known, self.rng)
        self.compare(
            cached_game,
            twins.twin_for(nothing_ahead(cached_game.state, viewer)),
            known,
            "a state dealt afresh",
        )
        for number, (seat, command) in enumerate(self.candidate_commands(cached_game.state, viewer)):
            envelope = CommandEnvelope(f"t{number}", "match", seat, command)
            self.try_command(cached_game, envelope, max(step.now, time_of(cached_game.state, command)), twins)

    def try_command(
        self, cached_game: CachedGame, envelope: CommandEnvelope, now: int, twins: TwinCache
    ) -> None:
        """The same envelope, or one that looks the same to the viewer, on both states."""
        viewer = twins.known.viewer
        outcome = self.referee.decide_on_copy(cached_game, envelope, now)
        ahead = future_of([Step(cached_game, envelope, now, outcome)], viewer)
        other = branched(cached_game, twins.twin_for(ahead).copy())
        twin_outcome = self.referee.decide(
            other, lookalike(other.state, envelope, outcome.events, ahead, self.rng), now
        )
        observed, twin_observed = (
            received(c, viewer, envelope.seat, same_seed=ahead.shuffles) for c in (outcome, twin_outcome)
        )
        require_same(observed, twin_observed, viewer, envelope)
        self.tried += 1

    def candidate_commands(
        self, state: GameState, viewer: Seat | None
    ) -> Iterator[tuple[Seat | None, Command]]:
        """Legal, illegal and senseless commands: from the viewer, from another seat, and from the server."""
        rng, seats = self.rng, range(len(state.seats))
        if viewer is not None:
            yield from ((viewer, command) for command in self.own_commands(state, viewer))
        if acting := [seat for seat in state.pending_choices if seat != viewer]:
            seat = rng.choice(acting)
            yield seat, rng.choice(legal(state, seat) or [Leave()])
        if others := [seat for seat in seats if seat != viewer]:
            yield rng.choice(others), rng.choice(self.pool)
        yield None, CallTime(rng.choice([*state.pending_choices] or seats))

    def own_commands(self, state: GameState, viewer: Seat) -> Iterator[Command]:
        """Commands of the viewer: legal ones, a near miss, others of the pool, a senseless one."""
        rng, legal_commands = self.rng, legal(state, viewer)
        every = self.tried % ALL_LEGAL_EVERY == 0
        yield from (
            legal_commands
            if every or len(legal_commands) <= LEGAL_MOST
            else rng.sample(legal_commands, LEGAL_MOST)
        )
        if legal_commands:
            yield from islice(near_misses(rng, state, rng.choice(legal_commands)), 1)
        yield from rng.sample(self.pool, 2)
        yield rng.choice(NONSENSE)

    def compare(self, cached_game: CachedGame, other: GameState, known: Knowledge, situation: str) -> None:
        """Without any command, both states are the same to the viewer and to its bot."""
        state, viewer = cached_game.state, known.viewer
        if viewer is None:
            return
        legal_commands = legal(state, viewer)
        if legal_commands != legal(other, viewer):
            raise LeakError(f"{situation}: seat {viewer} may do something else")
        is_of_trains = isinstance(state.own, TrainState)
        if (
            is_of_trains
            and self.rng.randrange(BOTS_EVERY) == 0
            and class_sees(state, viewer) != class_sees(other, viewer)
        ):
            raise LeakError(f"{situation}: the class of AI-MAS shows seat {viewer} something else")
        if legal_commands and self.rng.randrange(BOTS_EVERY) == 0:
            name = state.seats[viewer].policy or self.rng.choice(sorted(state.ruleset.bot_policies))
            # the train family's searcher hides what its seat can't see itself; that of other games is handed a view
            if name in SLOW_POLICIES and (not is_of_trains or self.rng.randrange(SLOW_BOTS_EVERY)):
                fallback = SLOW_POLICIES[name].fallback
                name = fallback if fallback in state.ruleset.bot_policies else "random"
            policy = POLICIES[name]
            seat_secret = state.seats[viewer].seat_secret or "00" * 32
            chosen, twin_choice = (
                policy(each, viewer, legal_commands, SeatRandom(seat_secret, cached_game.length))
                for each in (state, other)
            )
            if chosen != twin_choice:
                raise LeakError(f"{situation}: the bot of seat {viewer} chooses {twin_choice}, not {chosen}")


def class_sees(state: GameState, viewer: Seat) -> object:
    """What the class of AI-MAS shows its player."""
    board = TTRMap(state)
    return board.nodes, board.edges, [player_of(state, seat, viewer) for seat in range(len(state.seats))]


def future_of(steps: Sequence[Step], viewer: Seat | None) -> AnyFuture:
    """What the viewer will have seen after these steps."""
    state, events = steps[0].before.state, [event for step in steps for event in step.outcome.events]
    if isinstance(state.own, TrainState):
        return future(state, viewer, events)
    decided = (any_game.Decided(s.envelope, s.now, any_game.is_accepted(s.outcome.events)) for s in steps)
    return any_game.Future(viewer, [*decided], events)


def nothing_ahead(state: GameState, viewer: Seat | None) -> AnyFuture:
    """What the viewer will have seen if nothing happens."""
    return Future(state, viewer) if isinstance(state.own, TrainState) else any_game.Future(viewer, (), ())


class TwinCache:
    """Twins of one state, one for each future with a different key."""

    def __init__(self, state: GameState, known: Knowledge, rng: Random) -> None:
        self._state, self.known, self._rng = state, known, rng
        self._twins: dict[object, GameState] = {}

    def twin_for(self, ahead: AnyFuture) -> GameState:
        found = self._twins.get(ahead.key)
        if found is None:
            found = self._twins[ahead.key] = twin(self._state, self.known, ahead, self._rng)
        return found


def time_of(state: GameState, command: Command) -> int:
    """The earliest time, in ms, at which the command can come: that of its deadline for `call_time`, else 0."""
    until = state.seats[command.seat].deadline_ms if isinstance(command, CallTime) else None
    return 0 if until is None else state.opened_at_ms + until


def require_same(
    observed: object, twin_value: object, viewer: Seat | None, envelope: CommandEnvelope
) -> None:
    if observed != twin_value:
        who = "a spectator" if viewer is None else f"seat {viewer}"
        raise LeakError(f"{who} can distinguish: {envelope}\n  {observed}\n  {twin_value}")


def hidden_state(state: GameState) -> object:
    """The part of the state that no viewer knows completely."""
    if not isinstance(state.own, TrainState):
        return any_game.hidden_state(state)
    hands = [
        (seat.own.hand, seat.own.tickets, seat.own.offer, seat.own.requested_mix) for seat in state.seats
    ]
    return state.own.deck, state.own.ticket_decks, hands


def run_gate(rules: str, positions: int, seed: int = 0) -> Gate:
    """Check random games of this ruleset until so many positions are checked; returns the gate with its counts.

    Raises LeakError: when a viewer received something that depends on what it may not know."""
    gate, games = Gate(seed), Counter[str]()
    for number in range(10_000):
        if gate.positions >= positions:
            break
        match = Match(rules, seed + number)
        games[match.board or rules] += 1
        gate.check(match)
    assert gate.positions >= positions
    return gate
