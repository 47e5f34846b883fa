"""Before the play: a game is created, with the seats of its bots, and started (SETUP-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from schemas.commands import CreateGame, SeatPlan, StartGame
from schemas.errors import InvalidInputError
from schemas.events import AccessSet, GameCreated, GameStarted, PlayResumed, SeatTaken, SeedSealed
from schemas.field_types import Seat, as_logged
from schemas.game_options import PUBLIC_ACCESS, Access
from schemas.refusals import CommandRefusedError, require
from schemas.registry import OfItsGame
from services.referee.games.fair_randomness import contribution_origin, derive_any_seat_secret
from services.referee.games.found_games import RULESET_VERSIONS, choose_ruleset
from services.referee.games.shuffle import commit_to_seed, seed_from_text
from services.referee.games.state import EventStream, GameState, Opening, Ruleset, written_options

AGE_SIGNS: Final = {"age": -1, "youngest": 1}  # by `order`: of the ages by which the turns are sorted


class NewGameContext(NamedTuple):
    """All that the server, not the command, gives a new game."""

    game: str
    opened_at_ms: int  # by the game clock
    created_at_ms: int  # by the wall clock, since 1970
    fresh_seed: str  # 64 hex digits, for a command that names no seed


def create_game(rulesets: Mapping[str, Ruleset], context: NewGameContext, command: CreateGame) -> EventStream:
    """The events of a new game: rule options resolved, seed committed to, bots seated, what lies there laid.

    Raises CommandRefusedError (GAME-6, SETUP-4) before the first event."""
    ruleset = find_ruleset(rulesets, command)
    opening = ruleset.open_game(ruleset, command)
    require_seat_plans(ruleset, command)
    yield GameCreated(
        context.game,
        ruleset.name,
        ruleset.version,
        opening.board,
        opening.board_digest,
        opening.board_form,
        written_options(ruleset)
        if opening.rule_options is ruleset.rule_options
        else as_logged(ruleset.options_schema.write(opening.rule_options)),
        command.seats,
        command.play_off,
        context.created_at_ms,
        context.opened_at_ms,
    )
    seed = seed_from_text(command.seed) if command.seed is not None else context.fresh_seed
    yield SeedSealed(commit_to_seed(seed), command.seed is not None, seed)
    if (access := access_of(command)) != PUBLIC_ACCESS:
        yield AccessSet(*access)
    yield from seats_at_creation(context.game, seed, command)
    yield from opening.lay(seed)


def find_ruleset(rulesets: Mapping[str, Ruleset], command: CreateGame) -> Ruleset:
    """The ruleset that a creation names, or that its board is usually played with; of a fork, in the version of
    the source game. Raises CommandRefusedError (GAME-6) if there is none."""
    known_names = rulesets
    if command.fork is not None:
        rulesets = {
            name: ruleset
            for (name, version), ruleset in RULESET_VERSIONS.items()
            if version == command.fork.rules
        }
    field = "ruleset" if command.ruleset is not None else "board.rules"
    try:
        name = choose_ruleset(rulesets, command)
    except InvalidInputError as error:
        raise CommandRefusedError("GAME-6", str(error)) from None
    if name not in rulesets:
        raise CommandRefusedError("GAME-6", f"{field}: {name!r} isn't one of {', '.join(known_names)}")
    return rulesets[name]


def open_without_board(ruleset: Ruleset, command: CreateGame) -> Opening:
    """The opening of a game that is played on no board, and starts from no position or other game.

    Raises CommandRefusedError (GAME-6) for a board, a position, a fork, a wrong option, seats beyond what the ruleset
    declares, or too few or too many of them."""
    for field in ("board", "position", "fork"):
        reason = f"{field}: the rules {ruleset.name} know none"
        require(getattr(command, field) is None, "GAME-6", reason)
    rule_options = resolve_rule_options(ruleset, {}, command.options or {})
    least, most = ruleset.rule_options.seats_least, ruleset.rule_options.seats_most
    narrows = least <= rule_options.seats_least <= rule_options.seats_most <= most
    require(
        narrows, "GAME-6", f"options.seats_least, options.seats_most: {ruleset.name} is for {least} to {most}"
    )
    least, most = rule_options.seats_least, rule_options.seats_most
    seats_fit = least <= len(command.seats) <= most
    require(seats_fit, "GAME-6", f"seats: {ruleset.name} is for {least} to {most}")
    return Opening(rule_options)


def resolve_rule_options(
    ruleset: Ruleset, of_board: Mapping[str, object], overrides: Mapping[str, object]
) -> OfItsGame:  # of the ruleset's class
    """The ruleset's options, overridden by the board's, and these by the game's own.

    Raises CommandRefusedError (GAME-6) if a value is not allowed."""
    if not overrides and not of_board:
        return ruleset.rule_options
    try:
        return ruleset.options_schema.read({**written_options(ruleset), **of_board, **overrides})
    except InvalidInputError as error:
        source = "options" if error.field.split(".")[0] in overrides else "board.options"
        raise CommandRefusedError("GAME-6", f"{source}: {error}") from None


def seats_at_creation(game: str, seed: str, command: CreateGame) -> EventStream:
    """The seats that are taken at once: of bots, and of people who come from an earlier game."""
    for seat, plan in enumerate(command.seats):
        if (
            plan.kind == "bot"
            or command.play_off is not None
            or (command.fork is not None and is_named(plan))
        ):
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
        command.undo or "never",
    )


def is_named(plan: SeatPlan) -> bool:
    """Whether the plan has a name, or the commitment that a log has in its place."""
    return plan.name is not None or plan.name_commitment is not None


def default_bot_name(policy: str | None, seat: Seat) -> str:
    """The name of a bot that its creator gave none."""
    return f"{policy} {seat + 1}"


def require_seat_plans(ruleset: Ruleset, command: CreateGame) -> None:
    """Refuses with GAME-6 seats whose policies, names or play-off fields don't fit."""
    for seat, plan in enumerate(command.seats):
        if (plan.kind == "bot") != (plan.policy is not None):
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


def start_game(state: GameState, seat: Seat | None, command: StartGame) -> EventStream:
    """The start: the deal, or what a position or a fork goes on with. Refuses with GAME-5, or as the ruleset does that
    can't be dealt (GAME-6): the state is then as it was, also in the midst of the deal."""
    require(not state.started, "GAME-5", "the game has started")
    free_seats = [s for s, seat_state in enumerate(state.seats) if not seat_state.is_seated]
    require(not free_seats, "GAME-5", f"nobody sits at {', '.join(f'seat {s}' for s in free_seats)}")
    if state.fork_turn_state is not None:
        yield GameStarted(state.turn_order)
        yield PlayResumed()
        return
    before = None if state.ruleset.is_deal_checked else state.copy()
    yield GameStarted(turn_order(state))
    try:
        yield from state.ruleset.start(state)
    except CommandRefusedError:
        if before is not None:
            state.go_back_to(before)
        raise


def turn_order(state: GameState) -> tuple[Seat, ...]:
    """Seat order; or the oldest or the youngest first, and last those who gave no age, as `order` says."""
    seats = range(len(state.seats))
    if state.rule_options.order == "seated":
        return tuple(seats)
    sign = AGE_SIGNS[state.rule_options.order]
    ages = {seat: seat_state.age for seat, seat_state in enumerate(state.seats)}
    return tuple(sorted(seats, key=lambda seat: ((age := ages[seat]) is None, sign * (age or 0))))
