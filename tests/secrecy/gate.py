"""The gate: at every position of random games, a viewer and a table that it can't tell from the real one.

Both tables hear the same envelopes, as the viewer could see or say them, and everything that the viewer gets
must be the same. A difference is a `LeakError`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final

from schemas.commands import (
    BuildStation,
    CallTime,
    ClaimRoute,
    Command,
    CommandEnvelope,
    CreateGame,
    DrawMarket,
    KeepTickets,
    Leave,
    SeatPlan,
    StartGame,
    TakeSeat,
)
from schemas.field_types import Seat
from services.bots.policies import POLICIES
from services.bots.policies.random_source import SeatRandom
from services.referee.game_cache import CachedGame
from services.referee.rules import GameState, legal
from services.referee.rules.determinization import ViewerKnowledge
from tests.rules.random_commands import command_pool, near_misses
from tests.secrecy.bare_referee import Referee, branched, got
from tests.secrecy.matches import Match, Step
from tests.secrecy.twins import Future, alike, future, looks, twin

POSITIONS: Final = 20_000  # of all rulesets; a tenth of them in the short test run
AHEAD: Final = 5  # envelopes that a twin goes along with the game
WATCHED_EVERY: Final = 3  # stretches of a game once its seats have their tickets
TIRED_EVERY: Final = 6
LEGAL_MOST: Final = 3  # tried at a position, but for every so many positions, where all are
ALL_LEGAL_EVERY: Final = 25
BOTS_EVERY: Final = 10
NONSENSE: Final[Sequence[Command]] = (
    ClaimRoute("nowhere-a", {"red": 1}), BuildStation("nowhere", {"locomotive": 1}), DrawMarket(9), KeepTickets((9, 9)),
    StartGame(), TakeSeat("Nobody"), CallTime(0), CreateGame((SeatPlan(),)), Leave(),
)  # fmt: skip


class LeakError(AssertionError):
    """A viewer got something that depends on what it may not know."""


class Gate:
    """Counts the positions that it let pass, and of how many the twin was another table."""

    def __init__(self, chance: int) -> None:
        self.rng = Random(chance)
        self.referee = Referee()
        self.pool: list[Command] = []  # right and wrong commands, thought of now and then
        self.positions = self.twins = self.tried = 0

    def watch(self, match: Match) -> None:
        """Look at every position of the game."""
        steps = match.steps()
        while True:
            knowing = {viewer: known.copy() for viewer, known in match.knowing.items()}
            ahead = list(islice(steps, AHEAD))
            if not ahead:
                return
            if ahead[0].before.state.turn is not None and self.rng.randrange(WATCHED_EVERY):
                continue
            self.pool = command_pool(self.rng, ahead[0].before.state)
            viewers = [*knowing] if self.positions % 8 == 0 else [self.rng.choice([*knowing])]
            for viewer in viewers:
                self.go_along(ahead, knowing[viewer])
            self.positions += len(ahead)

    def go_along(self, steps: Sequence[Step], known: ViewerKnowledge) -> None:
        """A twin of the first table goes the way that the game goes."""
        first, viewer = steps[0].before, known.viewer
        ahead = future(first.state, viewer, [event for step in steps for event in step.came.events])
        other = branched(first, twin(first.state, known, ahead, self.rng))
        assert looks(other.state, viewer) == looks(first.state, viewer)
        self.twins += hidden(other.state) != hidden(first.state)
        for step in steps:
            self.look(step.before, other.state, known, "a twin on its way")
            self.at_position(step, known)
            envelope = alike(other.state, step.envelope, step.came.events, ahead, self.rng)
            came = self.referee.decide(other, envelope, step.now)
            told, told_too = (
                got(c, viewer, envelope.seat, same_seed=ahead.shuffles) for c in (step.came, came)
            )
            require_same(told, told_too, viewer, step.envelope)
            for event in step.came.events:
                known.apply(event)
        last = branched(steps[-1].before)
        self.referee.decide(last, steps[-1].envelope, steps[-1].now)
        require_same(looks(last.state, viewer), looks(other.state, viewer), viewer, steps[-1].envelope)

    def at_position(self, step: Step, known: ViewerKnowledge) -> None:
        """Whatever might come next here comes to the same on a table where all else is dealt afresh."""
        cached_game, viewer = step.before, known.viewer
        if viewer is not None and self.rng.randrange(TIRED_EVERY) == 0:
            cached_game = branched(cached_game)  # it said so much nonsense that no more is kept
            cached_game.state.refusal_counts[viewer] = cached_game.state.rule_options.refusals_kept
        dealt = Dealt(cached_game.state, known, self.rng)
        self.look(cached_game, dealt.table(Future(cached_game.state, viewer)), known, "a table dealt afresh")
        for number, (seat, command) in enumerate(self.wishes(cached_game.state, viewer)):
            envelope = CommandEnvelope(f"t{number}", "match", seat, command)
            self.hear(cached_game, envelope, max(step.now, time_of(cached_game.state, command)), dealt)

    def hear(self, cached_game: CachedGame, envelope: CommandEnvelope, now: int, dealt: Dealt) -> None:
        """The same envelope, or one that looks alike, at both tables."""
        viewer = dealt.known.viewer
        came = self.referee.tried(cached_game, envelope, now)
        ahead = future(cached_game.state, viewer, came.events)
        other = branched(cached_game, dealt.table(ahead).copy())
        came_too = self.referee.decide(other, alike(other.state, envelope, came.events, ahead, self.rng), now)
        told, told_too = (got(c, viewer, envelope.seat, same_seed=ahead.shuffles) for c in (came, came_too))
        require_same(told, told_too, viewer, envelope)
        self.tried += 1

    def wishes(self, table: GameState, viewer: Seat | None) -> Iterator[tuple[Seat | None, Command]]:
        """Legal, illegal and senseless: the viewer's own, somebody else's, and the server's."""
        rng, seats = self.rng, range(len(table.seats))
        if viewer is not None:
            yield from ((viewer, command) for command in self.own(table, viewer))
        if acting := [seat for seat in table.pending_choices if seat != viewer]:
            seat = rng.choice(acting)
            yield seat, rng.choice(legal(table, seat) or [Leave()])
        if others := [seat for seat in seats if seat != viewer]:
            yield rng.choice(others), rng.choice(self.pool)
        yield None, CallTime(rng.choice([*table.pending_choices] or seats))

    def own(self, table: GameState, viewer: Seat) -> Iterator[Command]:
        rng, may = self.rng, legal(table, viewer)
        every = self.tried % ALL_LEGAL_EVERY == 0
        yield from may if every or len(may) <= LEGAL_MOST else rng.sample(may, LEGAL_MOST)
        if may:
            yield from islice(near_misses(rng, table, rng.choice(may)), 1)
        yield from rng.sample(self.pool, 2)
        yield rng.choice(NONSENSE)

    def look(self, cached_game: CachedGame, other: GameState, known: ViewerKnowledge, what: str) -> None:
        """Without a word said, both tables are the same to the viewer, and to its bot."""
        table, viewer = cached_game.state, known.viewer
        if viewer is None:
            return
        may = legal(table, viewer)
        if may != legal(other, viewer):
            raise LeakError(f"{what}: seat {viewer} may do something else")
        if may and self.rng.randrange(BOTS_EVERY) == 0:
            policy = POLICIES[
                table.seats[viewer].policy or self.rng.choice(sorted(table.ruleset.bot_policies))
            ]
            luck = table.seats[viewer].seat_secret or "00" * 32
            chosen, too = (
                policy(each, viewer, may, SeatRandom(luck, cached_game.length)) for each in (table, other)
            )
            if chosen != too:
                raise LeakError(f"{what}: the bot of seat {viewer} chooses {too}, not {chosen}")


class Dealt:
    """Twins of one table, one for each future that matters."""

    def __init__(self, table: GameState, known: ViewerKnowledge, rng: Random) -> None:
        self._table, self.known, self._dice = table, known, rng
        self._made: dict[object, GameState] = {}

    def table(self, ahead: Future) -> GameState:
        made = self._made.get(ahead.key)
        if made is None:
            made = self._made[ahead.key] = twin(self._table, self.known, ahead, self._dice)
        return made


def time_of(table: GameState, command: Command) -> int:
    """When a command can come at the earliest that only comes at its time."""
    until = table.seats[command.seat].deadline_ms if isinstance(command, CallTime) else None
    return 0 if until is None else table.opened_at_ms + until


def require_same(told: object, too: object, viewer: Seat | None, envelope: CommandEnvelope) -> None:
    if told != too:
        who = "a spectator" if viewer is None else f"seat {viewer}"
        raise LeakError(f"{who} can tell: {envelope}\n  {told}\n  {too}")


def hidden(table: GameState) -> object:
    """What nobody knows whole."""
    hands = [(place.hand, place.tickets, place.offer, place.requested_mix) for place in table.seats]
    return table.deck, table.ticket_decks, hands


def watched(rules: str, positions: int, chance: int = 0) -> Gate:
    """Random games of these rules go through the gate, until it has seen so many positions."""
    gate, games = Gate(chance), Counter[str]()
    for number in range(10_000):
        if gate.positions >= positions:
            break
        match = Match(rules, chance + number)
        games[match.board] += 1
        gate.watch(match)
    assert gate.positions >= positions
    return gate
