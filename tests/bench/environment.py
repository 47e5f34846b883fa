"""Steps a second of the PettingZoo environment on one core, four seats: every step with its agent's observation and mask,
played by chance; deals included."""

from __future__ import annotations

from random import Random
from statistics import median
from time import process_time

import ledgerline
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.research.pettingzoo_env import TableEnv
from tests.bench.figure import Figure, Part, Report, Size

GOAL = 14_000
GAMES = 12  # in a round


def measure(size: Size, report: Report) -> Figure:
    parts: dict[str, Part] = {}
    for rules in TRAIN_RULESETS:
        report(rules)
        env, rounds = ledgerline.env(rules), size.of(7, 2)
        rates = [rate(env, size.of(GAMES, 1), number) for number in range(rounds + 1)][1:]
        parts[f"{rules}_steps_per_s"] = median(rates)
        parts[f"{rules}_actions"], parts[f"{rules}_numbers"] = env.actions.size, env.observation_form.size
    listed = ", ".join(f"{rules} {parts[f'{rules}_steps_per_s']:,.0f}" for rules in TRAIN_RULESETS)
    usa = parts["usa_steps_per_s"]
    assert isinstance(usa, float)
    return Figure(
        "PettingZoo environment, steps a second on one core, four seats",
        listed,
        f"usa at least {GOAL:,}",
        usa >= GOAL,
        parts,
    )


def rate(env: TableEnv, games: int, first_seed: int) -> float:
    """Steps a second over so many random games, by the CPU's time: nothing waits here."""
    rng, steps, start = Random(first_seed), 0, process_time()
    for seed in range(first_seed * games, (first_seed + 1) * games):
        env.reset(seed=seed)
        for _ in env.agent_iter():
            observation, _, is_over, *_ = env.last()
            if is_over or observation is None:
                break
            actions = observation["action_mask"].nonzero()[0]
            env.step(int(actions[int(rng.random() * len(actions))]))
            steps += 1
    return steps / (process_time() - start)
