"""The core alone: legal list, random choice, decide and evolve, in two-seat USA games, beside
python-chess playing random games to their ends. One card drawn is one decision."""

from __future__ import annotations

from itertools import count
from random import Random
from statistics import median
from time import perf_counter

import chess

from schemas.commands import CommandEnvelope, CreateGame, StartGame
from services.referee.games import GameState, decide_and_apply, decide_envelope, legal
from tests.bench.figure import Figure, Report, Size, in_turn, ratio
from tests.bench.games import NO_SEED, bots

GOAL = 3.0
SEATS = bots("random", "random")


def measure(size: Size, report: Report) -> Figure:
    rng, number = Random(1), count()
    span = 0.2 if size.quick else 1.0
    games: list[float] = []
    unchecked: list[float] = []

    def ours() -> float:
        moves, played, start = 0, 0, perf_counter()
        while (elapsed := perf_counter() - start) < span:
            moves += playout(str(next(number)), rng)
            played += 1
        games.append(played / elapsed)
        return moves / elapsed

    def theirs() -> float:
        unchecked.append(chess_rate(span / 2, rng, ask=False))
        return chess_rate(span, rng, ask=True)

    our, their = in_turn(size.of(7, 2), ours, theirs, report)
    del games[0], unchecked[0]  # of the warm-up round, which doesn't count
    times = ratio(our, their)
    each = 1e6 / median(our)
    return Figure(
        "core alone, decisions a second, of python-chess's random playouts",
        f"{times:.2f} ({median(our):,.0f} of {median(their):,.0f} a second;"
        f" {each:.1f} us, {median(games):.0f} games/s)",
        f"at least {GOAL:g} (best public engine: 10 us, 640 games/s)",
        times >= GOAL,
        {
            "ratio": times,
            "ours_decisions_per_s": our,
            "theirs_moves_per_s": their,
            "theirs_moves_per_s_without_is_game_over": unchecked,
            "ratio_without_is_game_over": ratio(our, unchecked),
            "us_per_decision": each,
            "games_per_s": games,
        },
    )


def playout(seed: str, rng: Random) -> int:
    """Play one game from its creation to its scores; returns how many decisions it had."""
    state, moves = GameState(), 0
    decide_envelope(state, CommandEnvelope("c", "game", None, CreateGame(SEATS, seed=seed)), 0, NO_SEED)
    decide_and_apply(state, None, StartGame())
    while not state.result:
        seat = next(iter(state.pending_choices))
        decide_and_apply(state, seat, rng.choice(legal(state, seat)))
        moves += 1
    return moves


def chess_rate(span: float, rng: Random, *, ask: bool) -> float:
    """Moves a second of random chess; `ask` is_game_over before each, or stop at no move."""
    moves, start = 0, perf_counter()
    while (elapsed := perf_counter() - start) < span:
        moves += chess_checked(rng) if ask else chess_unchecked(rng)
    return moves / elapsed


def chess_checked(rng: Random) -> int:
    board = chess.Board()
    while not board.is_game_over():
        board.push(rng.choice(list(board.legal_moves)))
    return len(board.move_stack)


def chess_unchecked(rng: Random, most: int = 400) -> int:
    board = chess.Board()
    while len(board.move_stack) < most and (moves := list(board.legal_moves)):
        board.push(rng.choice(moves))
    return len(board.move_stack)
