"""Random whole games a second on one core, for every ruleset: from the creation to the scores,
the core alone, four seats."""

from __future__ import annotations

from random import Random
from statistics import median
from time import perf_counter

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.field_types import Seat
from services.referee.games import GameState, decide_envelope, legal
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.bench.figure import Figure, Part, Report, Size
from tests.bench.games import NO_SEED

SEATS = 4
STEP_MS = 100  # so that no clock runs out


def measure(size: Size, report: Report) -> Figure:
    parts: dict[str, Part] = {}
    rates = []
    for rules in TRAIN_RULESETS:
        report(rules)
        times, decisions = [], []
        for number in range(size.of(120, 3)):
            start = perf_counter()
            decisions.append(playout(rules, SEATS, str(number))[1])
            times.append(perf_counter() - start)
        each = median(times[1:])
        parts[f"{rules}_games_per_s"] = 1 / each
        parts[f"{rules}_us_per_decision"] = 1e6 * sum(times[1:]) / sum(decisions[1:])
        rates.append(f"{rules} {1 / each:.0f}")
    return Figure(
        f"random whole games a second on one core, {SEATS} seats", ", ".join(rates), "reported", None, parts
    )


def playout(rules: str, seats: int, seed: str) -> tuple[GameState, int]:
    """A random game played to its end: its state, and how many decisions it had."""
    state, rng, moves = GameState(), Random(seed), 0
    plans = tuple(SeatPlan("bot", "random") for _ in range(seats))

    def send(seat: Seat | None, command: Command) -> None:
        nonlocal moves
        moves += 1
        decide_envelope(state, CommandEnvelope("c", "game", seat, command), moves * STEP_MS, NO_SEED)

    send(None, CreateGame(plans, rules, seed=seed))
    send(None, StartGame())
    while not state.result:
        seat = next(iter(state.pending_choices))
        send(seat, rng.choice(legal(state, seat)))
    return state, moves
