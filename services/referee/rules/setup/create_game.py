"""Before the play: a game is created, with the seats of its bots, and started (SETUP-1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from schemas.access import PUBLIC_ACCESS, Access
from schemas.boards.form import BOARD_SCHEMA
from schemas.commands import CreateGame, SeatPlan, StartGame
from schemas.errors import InvalidInputError
from schemas.events import (
    AccessSet,
    GameCreated,
    GameStarted,
    PlayResumed,
    SeatTaken,
    SeedSealed,
    TurnStarted,
)
from schemas.field_types import Seat
from schemas.positions import Position
from schemas.refusals import CommandRefusedError, require
from schemas.rule_options import RULE_OPTIONS_SCHEMA, RuleOptions
from services.referee.rules import board as boards
from services.referee.rules.board import Board, Ticket
from services.referee.rules.fair_randomness import contribution_origin, derive_any_seat_secret
from services.referee.rules.rulesets import RULESET_VERSIONS
from services.referee.rules.setup.complexity_limits import require_room_for_play_off, require_within_limits
from services.referee.rules.setup.deal import shuffle_all
from services.referee.rules.setup.fork import set_up_fork
from services.referee.rules.setup.position import set_up_position
from services.referee.rules.setup.position_check import require_position
from services.referee.rules.setup.position_turns import require_turn_state
from services.referee.rules.setup.validation import require_dealable, require_playable
from services.referee.rules.shuffle import commit_to_seed, seed_from_text
from services.referee.rules.state import EventStream, GameState, Ruleset

AGE_SIGNS: Final = {"age": -1, "youngest": 1}  # by `order`: of the ages by which the turns are sorted


class NewGameContext(NamedTuple):
    """All that the server, not the command, gives a new game."""

    game: str
    opened_at_ms: int  # by the game clock
    created_at_ms: int  # by the wall clock, since 1970
    fresh_seed: str  # 64 hex digits, for a command that names no seed


def create_game(rulesets: Mapping[str, Ruleset], context: NewGameContext, command: CreateGame) -> EventStream:
    """The events of a new game: rule options resolved, seed committed to, bots seated, position set up.

    Raises CommandRefusedError (GAME-6, SETUP-4) before the first event."""
    ruleset, board = choose_rules_and_board(rulesets, command)
    rule_options, board_digest = resolve_rule_options(ruleset, board, command.options or {}), board.digest
    starts_with_deal = command.fork is None and (command.position is None or command.position.turn is None)
    if rule_options is ruleset.rule_options and starts_with_deal:
        board = default_validated_board(ruleset, board, len(command.seats))
    else:
        board = validated_board(
            ruleset, rule_options, board, len(command.seats), starts_with_deal=starts_with_deal
        )
    require_seat_plans(ruleset, command)
    if command.position is not None:
        require_position(rule_options, board, len(command.seats), command.position)
        require_turn_state(ruleset, rule_options, board, len(command.seats), command.position)
        if starts_with_deal:
            require_laid_deal(ruleset, rule_options, board, len(command.seats), command.position)
    inline_form = None if isinstance(command.board, str | None) else board.form
    if inline_form is not None:
        require_room_for_play_off(rule_options, inline_form)
    yield GameCreated(
        context.game,
        ruleset.name,
        ruleset.version,
        board.id,
        board_digest,
        inline_form,
        rule_options,
        command.seats,
        command.play_off,
        context.created_at_ms,
        context.opened_at_ms,
    )
    seed = seed_from_text(command.seed) if command.seed is not None else context.fresh_seed
    seed_was_named = command.seed is not None
    yield SeedSealed(commit_to_seed(seed), seed_was_named, seed)
    if (access := access_of(command)) != PUBLIC_ACCESS:
        yield AccessSet(
            access.visibility,
            access.spectator_delay,
            access.by_invitation,
            access.suggestions,
        )
    yield from seats_at_creation(context.game, seed, command)
    if command.position is not None:
        yield from set_up_position(board, rule_options, seed, len(command.seats), command.position)
    if command.fork is not None:
        yield from set_up_fork(command.fork)


def seats_at_creation(game: str, seed: str, command: CreateGame) -> EventStream:
    """The seats that are taken at once: of bots, and of people who come from an earlier game."""
    for seat, plan in enumerate(command.seats):
        if plan.kind == "bot" or is_seat_reserved(command, plan):
            name = None if plan.name_commitment else plan.name or default_bot_name(plan.policy, seat)
            secret = derive_any_seat_secret(seed, game, seat, plan.policy, 0)
            share = contribution_origin(seed, command.seed is not None, seat, plan.policy, None)
            yield SeatTaken(seat, name, plan.policy, plan.age, secret, *share, plan.name_commitment)


def access_of(command: CreateGame) -> Access:
    """Read the access of the game that a command creates: public, unless it says otherwise."""
    return Access(
        command.visibility or "public",
        command.spectator_delay or 0,
        bool(command.by_invitation),
        command.suggestions is not False,
    )


def is_seat_reserved(command: CreateGame, plan: SeatPlan) -> bool:
    """Whether a person's seat is taken at creation, by the player who had it in the earlier game."""
    return command.play_off is not None or (command.fork is not None and is_named(plan))


def is_named(plan: SeatPlan) -> bool:
    """Whether the plan has a name, or the commitment that a log has in its place."""
    return plan.name is not None or plan.name_commitment is not None


def default_bot_name(policy: str | None, seat: Seat) -> str:
    """The name of a bot that its creator gave none."""
    return f"{policy} {seat + 1}"


def choose_rules_and_board(rulesets: Mapping[str, Ruleset], command: CreateGame) -> tuple[Ruleset, Board]:
    """The rules and the board; one that isn't named is the default of the other.

    Raises CommandRefusedError (GAME-6) if there are no such rules or no such board."""
    known_names = ", ".join(rulesets)
    name = command.ruleset
    if command.fork is not None:  # the ruleset version of the source game
        rulesets = {
            ruleset_name: rules
            for (ruleset_name, version), rules in RULESET_VERSIONS.items()
            if version == command.fork.rules
        }
    require(name is None or name in rulesets, "GAME-6", f"ruleset: {name!r} isn't one of {known_names}")
    try:
        board = resolve_board(command.board) if command.board is not None else None
        if name is None:
            name = board.default_ruleset if board else "usa"
            require(name in rulesets, "GAME-6", f"board.rules: {name!r} isn't one of {known_names}")
        return rulesets[name], board or boards.load_board(rulesets[name].default_board)
    except InvalidInputError as error:
        raise CommandRefusedError("GAME-6", str(error)) from None


def resolve_board(board: str | Mapping[str, object]) -> Board:
    """The built-in board of this name, or the board of an inline form. Raises InvalidInputError."""
    return (
        boards.load_board(board) if isinstance(board, str) else boards.build_board(BOARD_SCHEMA.read(board))
    )


def validated_board(
    ruleset: Ruleset, rule_options: RuleOptions, board: Board, seats: int, *, starts_with_deal: bool
) -> Board:
    """The board with the tickets that the rule options give it.

    Raises CommandRefusedError (GAME-6, SETUP-4) unless rules, options, board and number of seats fit
    together: for play, and for a deal if the game begins with one."""
    require_within_limits(rule_options, board)
    if rule_options.pair_tickets:
        board = boards.with_pair_tickets(board, rule_options.pair_tickets)
    require_playable(ruleset, rule_options, board, seats)
    if starts_with_deal:
        require_dealable(ruleset, rule_options, board, seats)
    return board


@lru_cache(maxsize=256)
def default_validated_board(ruleset: Ruleset, board: Board, seats: int) -> Board:
    """Validate a board with the ruleset's own options, cached: most games are played with these."""
    return validated_board(ruleset, ruleset.rule_options, board, seats, starts_with_deal=True)


def resolve_rule_options(ruleset: Ruleset, board: Board, overrides: Mapping[str, object]) -> RuleOptions:
    """The ruleset's options, overridden by the board's, and these by the game's own.

    Raises CommandRefusedError (GAME-6) if a value is not allowed."""
    if not overrides and not board.rule_options:
        return ruleset.rule_options
    values = {
        **RULE_OPTIONS_SCHEMA.write(ruleset.rule_options),
        **(board.rule_options if board.default_ruleset == ruleset.name else {}),
    }
    try:
        return RULE_OPTIONS_SCHEMA.read({**values, **overrides})
    except InvalidInputError as error:
        source = "options" if error.field.split(".")[0] in overrides else "board.options"
        raise CommandRefusedError("GAME-6", f"{source}: {error}") from None


def require_seat_plans(ruleset: Ruleset, command: CreateGame) -> None:
    """Refuses with GAME-6 seats whose policies, names or play-off fields don't fit."""
    for seat, plan in enumerate(command.seats):
        if not has_matching_policy(plan):
            reason = f"seats.{seat}.policy: a bot has one, a person has none"
            raise CommandRefusedError("GAME-6", reason)
        if plan.policy is not None and plan.policy not in ruleset.bot_policies:
            able_policies = ", ".join(sorted(ruleset.bot_policies))
            reason = f"seats.{seat}.policy: {plan.policy} can't play {ruleset.name}; {able_policies} can"
            raise CommandRefusedError("GAME-6", reason)
        if command.play_off is not None and not is_named(plan):
            raise CommandRefusedError("GAME-6", f"seats.{seat}.name: in a play-off every seat has one")
    series = command.play_off
    if series is not None:
        lengths_match = len(series.seats) == len(series.wins) == len(command.seats)
        require(lengths_match, "GAME-6", "play_off: seats and wins name every seat of this game")


def has_matching_policy(plan: SeatPlan) -> bool:
    """Whether a bot has a policy, and a person none."""
    return (plan.kind == "bot") == (plan.policy is not None)


def start_game(state: GameState, seat: Seat | None, command: StartGame) -> EventStream:
    """The start: the deal, or what a position or a fork goes on with. Refuses with GAME-5."""
    require(not state.started, "GAME-5", "the game has started")
    free_seats = [s for s, seat_state in enumerate(state.seats) if not seat_state.is_seated]
    require(not free_seats, "GAME-5", f"nobody sits at {', '.join(f'seat {s}' for s in free_seats)}")
    if state.fork_turn_state is not None:
        yield GameStarted(state.turn_order)
        yield PlayResumed()
        return
    yield GameStarted(turn_order(state))
    table = state.own
    if table.position_starter is not None:
        yield TurnStarted(table.position_starter)
        return
    if not table.ticket_decks:  # else a position has laid the decks
        yield from shuffle_all(state)
    yield from state.ruleset.setup(state)


def turn_order(state: GameState) -> tuple[Seat, ...]:
    """Seat order; or the oldest or the youngest first, and last those who gave no age, as `order` says."""
    seats = range(len(state.seats))
    if state.rule_options.order == "seated":
        return tuple(seats)
    sign = AGE_SIGNS[state.rule_options.order]
    ages = {seat: seat_state.age for seat, seat_state in enumerate(state.seats)}
    return tuple(sorted(seats, key=lambda seat: ((age := ages[seat]) is None, sign * (age or 0))))


def require_laid_deal(
    ruleset: Ruleset, rule_options: RuleOptions, board: Board, seats: int, position: Position
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
    ruleset.require_enough_tickets(rule_options, replace(board, tickets=tickets), seats)


def _tickets_in_decks(board: Board, position: Position) -> Iterator[Ticket]:
    """The tickets that lie in decks: those that were given, and all of the board in the other decks."""
    given = position.ticket_decks or {}
    yield from (ticket for ticket in board.tickets.values() if ticket.deck not in given)
    for deck, forms in given.items():
        for index, form in enumerate(forms):
            yield Ticket(f"{deck}/{index}", *form.between, form.points, deck)
