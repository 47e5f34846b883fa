"""The policy `searcher` in any game: each legal command is tried in worlds that the seat can't tell from its own.

A world is the seat's view with all that is hidden dealt afresh, by what the game says of itself (`Ruleset.deal_afresh`).
It is played on by chance to the end. A family of games may have a search of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from schemas.commands import Command
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from services.bots.searching.candidate_halving import (
    OWN_SEARCHES,
    WORLD_SEEDS,
    Candidate,
    CandidateValue,
    best_of,
    run_halving,
    values_of,
)
from services.bots.seat_random import SeatRandom
from services.referee.games import GameState, decide_and_apply, legal
from services.referee.games.fair_randomness import without_commitments
from services.referee.games.state import Seen

ROLLOUTS: Final = 64  # of all candidates of a move together, for the policy `searcher`
MAX_MOVES: Final = 30_000  # of all rollouts of a choice together: about two seconds
MAX_ROLLOUT_MOVES: Final = 1_000  # at most, with many candidates fewer; then a rollout is scored as it stands


def search_command(
    view: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
) -> Command:
    """The policy `searcher`: the command that brings most in games played out."""
    own_search = OWN_SEARCHES.get(type(view.own))
    rollouts = own_search.rollouts if own_search else ROLLOUTS
    return evaluate_commands(view, seat, commands, seat_random, rollouts)[0].command


def evaluate_commands(
    view: GameState,
    seat: Seat,
    commands: Sequence[Command],
    seat_random: SeatRandom,
    rollouts: int,
    done: Command | None = None,
) -> tuple[CandidateValue, ...]:
    """The seat's legal commands (at least one), in a family with a search of its own the sensible ones and what was `done`,
    the one to choose first, by so many rollouts of all of them together.

    Pure: nothing is read that the seat doesn't see, and all chance comes from `seat_random`. Raises InvalidInputError: the
    game doesn't say how to deal afresh what a seat can't see."""
    if own_search := OWN_SEARCHES.get(type(view.own)):
        return own_search.evaluate(view, seat, commands, seat_random, rollouts, done)
    candidates = [Candidate(command, is_done=command == done) for command in commands]
    if len(candidates) > 1:
        search = _Search(view, seat, seat_random.choice(WORLD_SEEDS), len(candidates))
        run_halving(candidates, rollouts, search.play_out)
    return values_of(candidates, best_of(candidates))


class _Search:
    """The worlds of a choice, and how many moves may still be tried in them; world number n is the same for each candidate."""

    def __init__(self, view: GameState, seat: Seat, seed: int, candidates: int) -> None:
        self.view, self.seat, self.seed, self.left = view, seat, seed, MAX_MOVES
        self.rollout_moves = min(MAX_ROLLOUT_MOVES, MAX_MOVES // candidates)
        if view.ruleset.deal_afresh is None:
            reason = f"nothing is searched in {view.ruleset.name}: it doesn't say what a seat can't see"
            raise InvalidInputError("ruleset", reason)
        self.deal_afresh = view.ruleset.deal_afresh

    def play_out(self, candidate: Candidate) -> None:
        """One more rollout of the candidate, while moves are left: they last for one of each."""
        if self.left <= 0:
            return
        number = len(candidate.leads)
        chance = Random(self.seed + number)  # noqa: S311  it decides nothing that is secret
        world = self.sample(chance)
        decide_and_apply(world, self.seat, candidate.command)
        for _ in range(self.rollout_moves):
            asked = next(iter(world.pending_choices), None)
            if asked is None or not (commands := legal(world, asked)):
                break
            decide_and_apply(world, asked, chance.choice(commands))
            self.left -= 1
        points, lead = _points_of(world, self.seat)
        candidate.points.append(points)
        candidate.leads.append(lead)

    def sample(self, chance: Random) -> GameState:
        """A world as a referee has it: with a seed, of which all later shuffles follow."""
        view = self.view
        world = self.deal_afresh(view, Seen(self.seat, view), lambda row: chance.sample(row, len(row)))
        world.ruleset = without_commitments(world.ruleset)
        world.seed, world.shuffle_key = (chance.randbytes(32).hex() for _ in range(2))
        return world


def _points_of(world: GameState, seat: Seat) -> tuple[int, int]:
    """The seat's points, and its lead over the best of the other seats, where fewer points win the other way round."""
    scores = world.result.scores if world.result else world.ruleset.score(world)
    totals = {score.seat: score.total for score in scores}
    playing = [score for score in scores if world.seats[score.seat].exit_reason is None]
    winning = max(
        (score for score in playing if score.place == 1), default=None, key=lambda score: score.total
    )
    sign = -1 if winning and any(score.total > winning.total for score in playing) else 1
    others = [sign * score.total for score in playing if score.seat != seat]
    return totals[seat], sign * totals[seat] - max(others, default=0)
