"""What requests cost that strangers can make the most expensive: drawings, tables and lists of moves of their own boards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import process_time
from typing import Any, Final

from schemas.commands import CreateGame, read_command
from schemas.trains.boards.form import BOARD_SCHEMA
from services.gateway.tables.table_folds import MAX_COMMANDS
from services.referee.games.trains.board import build_board
from services.tables.table_fold import FoldedTable
from services.tables.trains.board_drawing import draw_board
from tests.bench.figure import Figure, Report, Size
from tests.gateway.crowded_boards import CROWDED, crowded_position
from tests.rules.hostile_games import created, started

GOAL_MS: Final = 200
TICKETS: Final = {
    "many tickets": (200, 500, 1_000),
    "many cities": (400, 700, 500),
}  # cities, routes, tickets
MOVES: Final = {"many moves": (100, 570, 0, 100, 20), "many payments": (20, 250, 0, 100, 20)}


def measure(size: Size, report: Report) -> Figure:
    """CPU, not elapsed time: other processes don't count."""
    times: dict[str, float] = {}
    for kind, board in [*CROWDED.items()][: size.of(len(CROWDED), 1)]:
        report(kind)
        built = build_board(BOARD_SCHEMA.read(board))
        times[f"board: {kind}"] = cpu_ms(lambda built=built: draw_board(built).model_dump_json())  # type: ignore[misc]  # the default binds the board
    for kind, shape in [*TICKETS.items()][: size.of(len(TICKETS), 1)]:
        report(kind)
        table = folded(crowded_position(*shape))
        times[f"state: {kind}"] = cpu_ms(lambda table=table: table.table(0))  # type: ignore[misc]  # the same
    for kind, hands in [*MOVES.items()][: size.of(len(MOVES), 1)]:
        report(kind)
        table = folded(crowded_position(*hands))
        times[f"legal: {kind}"] = cpu_ms(lambda table=table: table.legal(MAX_COMMANDS))  # type: ignore[misc]  # the same
    return Figure(
        "the costliest requests on boards of strangers, CPU",
        ", ".join(f"{name} {ms:.0f} ms" for name, ms in times.items()),
        f"under {GOAL_MS} ms each",
        max(times.values()) < GOAL_MS,
        times,
    )


def folded(body: Mapping[str, Any]) -> FoldedTable:
    """The table of the first seat of a game that was created so and has started."""
    command = read_command({**body, "type": CreateGame.type})
    assert isinstance(command, CreateGame)
    state = created(command)
    assert state is not None, "its creation was refused"
    table = FoldedTable(state.game, 0)
    table.state, table.number = started(state, len(command.seats)), 2
    return table


def cpu_ms(work: Callable[[], object]) -> float:
    """How much CPU time one call takes."""
    start = process_time()
    work()
    return 1000 * (process_time() - start)
