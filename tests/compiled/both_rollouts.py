"""Rollouts in both forms, from positions of random games on every board, with every number of seats."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from schemas.commands import Command
from services.bots.trains.searching import rollout_forms
from services.bots.trains.searching.compact_rules import compact_rules
from services.bots.trains.searching.first_move import FirstMove, first_move
from services.bots.trains.searching.rollout_forms import Rollouts, play_in_python
from services.bots.trains.searching.world_sampler import WorldSampler
from services.referee.games import GameState, decide_and_apply, legal
from tests.bots.compact_games import random_opening

SHARE = 0.06  # of the positions of a game
A_POSITION = 2  # rollouts


class BothForms(NamedTuple):
    """A rollout's points in both forms; None of one that the compiled form declines."""

    where: str
    python: list[int]
    compiled: list[int] | None


def both_forms(rules: str, number: int) -> Iterator[BothForms]:
    """Rollouts from positions of a random game with this number, each with a legal command as its first move."""
    rng = Random(number)
    state = random_opening(rng, rules, number)
    while state.result is None:
        seat = min(state.pending_choices)
        commands = legal(state, seat)
        if rng.random() < SHARE:
            yield from _from_position(state, seat, rng, commands, f"{rules}, game {number}")
        decide_and_apply(state, seat, rng.choice(commands))


def _from_position(
    state: GameState, seat: int, rng: Random, commands: list[Command], where: str
) -> Iterator[BothForms]:
    by_number = compact_rules(state)
    sampler, rollouts = WorldSampler(state, seat, by_number), Rollouts(by_number, len(state.seats))
    for _ in range(A_POSITION):
        world = rollouts.world(sampler.sample(Random(rng.random())))
        command = rng.choice(commands)
        move: FirstMove = first_move(state, seat, by_number, command)
        compiled = rollouts.play_compiled(world, rollouts.opening(move))
        yield BothForms(f"{where}, seat {seat}, {command}", play_in_python(world.game, move), compiled)


def compare(rules: str, count: int) -> tuple[int, list[str]]:
    """Compare so many rollouts; returns how many the compiled form declined, and where they differ."""
    assert rollout_forms.IS_COMPILED
    compared, declined, different, number = 0, 0, list[str](), 0
    while compared < count:
        for both in both_forms(rules, number):
            compared += 1
            declined += both.compiled is None
            if both.compiled not in (None, both.python):
                different.append(both.where)
        number += 1
    return declined, different
