"""Before the play: laying the table, sitting down, starting (SETUP-1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from schemas.boards.form import BOARD
from schemas.commands import CreateGame, SeatPlan, StartGame, TakeSeat
from schemas.contract import Malformed
from schemas.events import GameCreated, GameStarted, PlayResumed, SeatTaken, SeedSealed, TurnStarted
from schemas.field_types import Seat
from schemas.refusals import Refused, require
from schemas.rule_options import PARAMETERS, Parameters
from services.referee.rules import board as boards
from services.referee.rules.board import Board
from services.referee.rules.ruleset import Facts, Ruleset
from services.referee.rules.rulesets import EDITIONS
from services.referee.rules.setup.complexity_limits import require_bounded, require_repeatable
from services.referee.rules.setup.deal import shuffle_all
from services.referee.rules.setup.fork import lay_fork
from services.referee.rules.setup.position import lay_position, require_position
from services.referee.rules.setup.validation import require_dealable, require_playable
from services.referee.rules.shuffle import commitment_of, seed_of
from services.referee.rules.table import Table


class Opening(NamedTuple):
    """What a new game has from the house, not from whoever wishes for it."""

    game: str
    opened: int  # in the house's own time
    created: int  # by the wall clock
    fresh_seed: str  # if the wish names none


def create_game(rulesets: Mapping[str, Ruleset], opening: Opening, command: CreateGame) -> Facts:
    """Lay a table: resolve every figure, seal the seed, seat the bots."""
    ruleset, board = chosen(rulesets, command)
    figures, digest = resolved(ruleset, board, command.options or {}), board.digest
    dealt = command.position is None and command.fork is None
    if figures is ruleset.figures and dealt:
        board = usual(ruleset, board, len(command.seats))
    else:
        board = suited(ruleset, figures, board, len(command.seats), dealt=dealt)
    require_seat_plans(ruleset, command)
    if command.position is not None:
        require_position(figures, board, len(command.seats), command.position)
    own = None if isinstance(command.board, str | None) else board.form
    if own is not None:
        require_repeatable(figures, own)
    yield GameCreated(
        opening.game,
        ruleset.name,
        ruleset.version,
        board.id,
        digest,
        own,
        figures,
        command.seats,
        command.play_off,
        opening.created,
        opening.opened,
    )
    seed = seed_of(command.seed) if command.seed is not None else opening.fresh_seed
    given = command.seed is not None
    yield SeedSealed(commitment_of(seed), given if ruleset.dealing.sealed else None, seed)
    for seat, plan in enumerate(command.seats):
        if plan.kind == "bot" or is_kept(command, plan):
            name = plan.name or f"{plan.policy} {seat + 1}"
            luck = ruleset.dealing.luck(seed, opening.game, seat, plan.policy)
            gave = ruleset.dealing.contribution(seed, given, seat, plan.policy, None)
            yield SeatTaken(seat, name, plan.policy, plan.age, luck, *gave)
    if command.position is not None:
        yield from lay_position(board, figures, seed, len(command.seats), command.position)
    if command.fork is not None:
        yield from lay_fork(command.fork)


def is_kept(command: CreateGame, plan: SeatPlan) -> bool:
    """Whether a person's seat is taken from the first by who had it in another game."""
    return command.play_off is not None or (command.fork is not None and plan.name is not None)


def chosen(rulesets: Mapping[str, Ruleset], command: CreateGame) -> tuple[Ruleset, Board]:
    """The rules and the board: what isn't named is what the other is usually played with."""
    known = ", ".join(rulesets)
    name = command.ruleset
    if command.fork is not None:  # by the edition that the other game is played by
        rulesets = {of: rules for (of, version), rules in EDITIONS.items() if version == command.fork.rules}
    require(name is None or name in rulesets, "GAME-6", f"ruleset: {name!r} isn't one of {known}")
    try:
        board = named_board(command.board) if command.board is not None else None
    except Malformed as error:
        raise Refused("GAME-6", str(error)) from None
    if name is None:
        name = board.rules if board else "usa"
        require(name in rulesets, "GAME-6", f"board.rules: {name!r} isn't one of {known}")
    return rulesets[name], board or boards.load(rulesets[name].board)


def named_board(board: str | Mapping[str, Any]) -> Board:
    """The board of this name, or the one that is written in place. Raises Malformed."""
    return boards.load(board) if isinstance(board, str) else boards.build(BOARD.read(board))


def suited(ruleset: Ruleset, figures: Parameters, board: Board, seats: int, *, dealt: bool) -> Board:
    """The board with the tickets that these figures give it. Raises Refused unless rules, figures,
    board and seats suit each other, for a deal too if the game begins with one."""
    require_bounded(figures, board)
    if figures.pair_tickets:
        board = boards.with_pairs(board, figures.pair_tickets)
    require_playable(ruleset, figures, board, seats)
    if dealt:
        require_dealable(ruleset, figures, board, seats)
    return board


@lru_cache(maxsize=256)
def usual(ruleset: Ruleset, board: Board, seats: int) -> Board:
    """The same with the ruleset's own figures: most games have them, and one look is enough."""
    return suited(ruleset, ruleset.figures, board, seats, dealt=True)


def resolved(ruleset: Ruleset, board: Board, options: Mapping[str, Any]) -> Parameters:
    """The ruleset's figures with what the board, and then this game, sets otherwise."""
    if not options and not board.options:
        return ruleset.figures
    written = {**PARAMETERS.write(ruleset.figures), **(board.options if board.rules == ruleset.name else {})}
    try:
        return PARAMETERS.read({**written, **options})
    except Malformed as error:
        where = "options" if error.field.split(".")[0] in options else "board.options"
        raise Refused("GAME-6", f"{where}: {error}") from None


def require_seat_plans(ruleset: Ruleset, command: CreateGame) -> None:
    for seat, plan in enumerate(command.seats):
        require(fits(plan), "GAME-6", f"seats.{seat}.policy: a bot has one, a person has none")
        known = plan.policy is None or plan.policy in ruleset.policies
        able = ", ".join(sorted(ruleset.policies))
        require(known, "GAME-6", f"seats.{seat}.policy: {plan.policy} can't play {ruleset.name}; {able} can")
        named = command.play_off is None or plan.name is not None
        require(named, "GAME-6", f"seats.{seat}.name: in a play-off every seat has one")
    series = command.play_off
    if series is not None:
        rows = len(series.seats) == len(series.wins) == len(command.seats)
        require(rows, "GAME-6", "play_off: seats and wins name every seat of this game")


def fits(plan: SeatPlan) -> bool:
    return (plan.kind == "bot") == (plan.policy is not None)


def take_seat(table: Table, seat: Seat | None, command: TakeSeat) -> Facts:
    free = [s for s, place in enumerate(table.places) if not place.taken]
    require(free, "GAME-4", "every seat is taken")
    wanted = free[0] if command.seat is None else command.seat
    require(wanted in free, "GAME-4", f"seat {wanted} isn't free; free are {free}")
    taken = any(place.taken and place.name == command.name for place in table.places)
    require(not taken, "GAME-4", f"somebody at this table is called {command.name} already")
    assert table.seed is not None, "only the referee seats"
    dealing = table.rules.dealing
    gave = dealing.contribution(table.seed, table.given, wanted, None, command.contribution)
    luck = dealing.luck(table.seed, table.game, wanted, None)
    yield SeatTaken(wanted, command.name, None, command.age, luck, *gave)


def start_game(table: Table, seat: Seat | None, command: StartGame) -> Facts:
    require(not table.started, "GAME-5", "the game has started")
    free = [s for s, place in enumerate(table.places) if not place.taken]
    require(not free, "GAME-5", f"nobody sits at {', '.join(f'seat {s}' for s in free)}")
    if table.moment is not None:
        yield GameStarted(table.order)
        yield PlayResumed()
        return
    yield GameStarted(turn_order(table))
    if table.laid is not None:
        yield TurnStarted(table.laid)
        return
    yield from shuffle_all(table)
    yield from table.rules.setup(table)


def turn_order(table: Table) -> tuple[Seat, ...]:
    """As they sit; or the oldest first, and those who gave no age last."""
    seats = range(len(table.places))
    if table.figures.order == "seated":
        return tuple(seats)
    ages = [place.age for place in table.places]
    return tuple(sorted(seats, key=lambda seat: -1 if (age := ages[seat]) is None else age, reverse=True))
