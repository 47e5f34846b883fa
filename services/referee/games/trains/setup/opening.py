"""How a train game is opened: its board, the tickets of that, and a position or another game's moment in place of the deal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from schemas.commands import CreateGame
from schemas.errors import InvalidInputError
from schemas.events import TurnStarted
from schemas.field_types import as_logged
from schemas.refusals import CommandRefusedError, require
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.positions import Position
from schemas.trains.rule_options import RuleOptions
from services.referee.games import create_game
from services.referee.games.state import EventStream, Opening
from services.referee.games.trains import board as boards
from services.referee.games.trains.board import Board, Ticket
from services.referee.games.trains.setup.deal import deal_hands, shuffle_all
from services.referee.games.trains.setup.fork import set_up_fork
from services.referee.games.trains.setup.position import require_position, require_turn_state, set_up_position
from services.referee.games.trains.setup.validation import (
    require_dealable,
    require_playable,
    require_room_for_play_off,
    require_within_limits,
)
from services.referee.games.trains.train_state import TrainGame, TrainRuleset

MAX_RULESET_NAME: Final = 40  # characters of a slug


def open_train_game(ruleset: TrainRuleset, command: CreateGame) -> Opening:
    """The board, the options, and what is laid on the board before the start.

    Raises CommandRefusedError (GAME-6, SETUP-4)."""
    board, seats = choose_board(ruleset, command), len(command.seats)
    rule_options = resolve_rule_options(ruleset, board, command.options or {})
    starts_with_deal = command.fork is None and (command.position is None or command.position.turn is None)
    if rule_options is ruleset.rule_options and starts_with_deal:
        played = default_validated_board(ruleset, board, seats)
    else:
        played = validated_board(ruleset, rule_options, board, seats, starts_with_deal=starts_with_deal)
    if (position := command.position) is not None:
        require_position(rule_options, played, seats, position)
        require_turn_state(ruleset, rule_options, played, seats, position)
        if starts_with_deal:
            require_laid_deal(ruleset, rule_options, played, seats, position)
    inline_form = None
    if not isinstance(command.board, str | None):
        require_room_for_play_off(rule_options, board.form)
        inline_form = as_logged(BOARD_SCHEMA.write(board.form, exclude_defaults=True))

    def lay(seed: str) -> EventStream:
        if command.position is not None:
            yield from set_up_position(played, rule_options, seed, seats, command.position)
        if command.fork is not None:
            yield from set_up_fork(command.fork)

    return Opening(rule_options, board.id, board.digest, inline_form, lay)


def choose_board(ruleset: TrainRuleset, command: CreateGame) -> Board:
    """The board that a creation names or holds; else the ruleset's own. Raises CommandRefusedError (GAME-6)."""
    try:
        return boards.read_board(ruleset.default_board if command.board is None else command.board)
    except InvalidInputError as error:
        raise CommandRefusedError("GAME-6", str(error)) from None


def ruleset_for(command: CreateGame) -> str | None:
    """The ruleset that a board is usually played with; None where it names none. A board in place is read whole, and what
    is wrong with it found, when the game is opened. Raises InvalidInputError for a name that no board has."""
    if isinstance(command.board, Mapping):
        rules = command.board.get("rules")
        return rules if isinstance(rules, str) and len(rules) <= MAX_RULESET_NAME else None
    return None if command.board is None else boards.load_board(command.board).default_ruleset


def resolve_rule_options(ruleset: TrainRuleset, board: Board, overrides: Mapping[str, object]) -> RuleOptions:
    """The ruleset's options, overridden by those of a board that is usually played with it, and these by the
    game's own. Raises CommandRefusedError (GAME-6) if a value is not allowed."""
    of_board = board.rule_options if board.default_ruleset == ruleset.name else {}
    options: RuleOptions = create_game.resolve_rule_options(ruleset, of_board, overrides)
    return options


def validated_board(
    ruleset: TrainRuleset, rule_options: RuleOptions, board: Board, seats: int, *, starts_with_deal: bool
) -> Board:
    """The board with the tickets that the rule options give it.

    Raises CommandRefusedError (GAME-6, SETUP-4) unless rules, options, board and number of seats fit
    together: for play, and for a deal if the game begins with one."""
    require_within_limits(rule_options, board)
    board = boards.as_played(board, rule_options)
    require_playable(ruleset, rule_options, board, seats)
    if starts_with_deal:
        require_dealable(ruleset, rule_options, board, seats)
    return board


@lru_cache(maxsize=256)
def default_validated_board(ruleset: TrainRuleset, board: Board, seats: int) -> Board:
    """Validate a board with the ruleset's own options, cached: most games are played with these."""
    return validated_board(ruleset, ruleset.rule_options, board, seats, starts_with_deal=True)


def start_play(state: TrainGame) -> EventStream:
    """The deal, as the ruleset says; or the turn of the seat that a position names."""
    table = state.own
    if table.position_starter is not None:
        yield TurnStarted(table.position_starter)
        return
    if not table.ticket_decks:  # else a position has laid the decks
        yield from shuffle_all(state)
    yield from deal_hands(state)
    yield from state.ruleset.parts.deal(state)


def require_laid_deal(
    ruleset: TrainRuleset, rule_options: RuleOptions, board: Board, seats: int, position: Position
) -> None:
    """Everything can be dealt from the decks of such a position. Raises CommandRefusedError: GAME-6, which names
    the wrong entry, or what the ruleset says of too few tickets."""
    for field in ("hands", "tickets"):
        reason = f"position.{field}: nobody has any before the deal (position.turn is null)"
        require(not any(getattr(position, field)), "GAME-6", reason)
    if position.deck is not None:
        dealt_count = seats * rule_options.hand + rule_options.market
        reason = f"position.deck: {len(position.deck)} cards, {dealt_count} are dealt at the start"
        require(len(position.deck) >= dealt_count, "GAME-6", reason)
    tickets = {ticket.id: ticket for ticket in _tickets_in_decks(board, position)}
    ruleset.parts.require_enough_tickets(rule_options, replace(board, tickets=tickets), seats)


def _tickets_in_decks(board: Board, position: Position) -> Iterator[Ticket]:
    """The tickets that lie in decks: those that were given, and all of the board in the other decks."""
    given = position.ticket_decks or {}
    yield from (ticket for ticket in board.tickets.values() if ticket.deck not in given)
    for deck, forms in given.items():
        for index, form in enumerate(forms):
            yield Ticket(f"{deck}/{index}", *form.between, form.points, deck)


# -- a new game on the same board --------------------------------------------------------------


def can_be_dealt(state: TrainGame, seats: int) -> bool:
    """Whether the game's cards and tickets are enough for a new deal. A game that started from a position
    may have too few: then its first place stays shared."""
    if state.own.position_starter is None:
        return True
    rule_options, board = state.rule_options, boards.build_board(state.own.board.form)
    try:
        require_dealable(state.ruleset, rule_options, boards.as_played(board, rule_options), seats)
    except CommandRefusedError:
        return False
    return True


def is_laid(state: TrainGame) -> bool:
    """Whether a position or another game has laid its decks."""
    return bool(state.own.ticket_decks)


def board_of(state: TrainGame) -> object:
    """The board as a creation has it: its name, or its form."""
    return boards.board_reference(state.own.board)
