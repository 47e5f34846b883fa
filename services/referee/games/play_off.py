"""How a game ends. A shared first place is played off: best of several new games (TIE-1)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from schemas.commands import CreateGame, PlayOff, SeatPlan
from schemas.events import EndReason, GameEnded, PlayOffCalled, PlayOffEnded, Score, SeedRevealed
from schemas.field_types import Seat
from schemas.stored.player_names import ERASED_NAME
from services.referee.games.state import EventStream, GameState, SeatState

MAX_ROOT_ID_LENGTH: Final = 36  # characters of the first game's id that fit into the ids of the others


def end_game(state: GameState, reason: EndReason) -> EventStream:
    """What was hidden is shown, scores are counted, a play-off is called if due, the seed is revealed."""
    yield from state.ruleset.show(state)
    scores = state.ruleset.score(state)
    yield from decide_play_off(state, scores)
    assert state.seed is not None, "only the referee ends games"
    yield SeedRevealed(state.seed)
    yield GameEnded(reason, scores)


def decide_play_off(state: GameState, scores: Sequence[Score]) -> EventStream:
    """The call of a play-off's next game, or the play-off's result; nothing where no play-off is due."""
    leaders = [score.seat for score in scores if score.place == 1]
    if state.play_off is not None:
        yield from continue_series(state, state.play_off, leaders)
        return
    tied_seats = [seat for seat in leaders if can_continue(state.seats[seat])]
    if (
        state.rule_options.play_off
        and len(tied_seats) > 1
        and state.ruleset.can_be_dealt(state, len(tied_seats))
    ):
        yield call_play_off(
            PlayOff(state.game, 1, tuple(tied_seats), (0,) * len(tied_seats)), tuple(tied_seats)
        )


def continue_series(state: GameState, series: PlayOff, leaders: Sequence[Seat]) -> EventStream:
    """The play-off after one more game; a tied one counts for nobody."""
    wins = [won + (leaders == [seat]) for seat, won in enumerate(series.wins)]
    most_wins = max(wins)
    all_present = all(can_continue(seat_state) for seat_state in state.seats)
    is_decided = most_wins > state.rule_options.play_off // 2
    if not is_decided and series.number < state.rule_options.play_off and all_present:
        next_series = PlayOff(series.of, series.number + 1, series.seats, tuple(wins))
        yield call_play_off(next_series, tuple(range(len(wins))))
    else:
        winners = tuple(seat for seat, won in zip(series.seats, wins, strict=True) if won == most_wins)
        yield PlayOffEnded(series.of, winners)


def can_continue(seat_state: SeatState) -> bool:
    """Whether the seat plays on after this game. A seat that ran out of time does, with a new clock."""
    return seat_state.exit_reason in (None, "out of time")


def call_play_off(series: PlayOff, seats: tuple[Seat, ...]) -> PlayOffCalled:
    """The game's id follows from the first game's, so that every referee gives it the same one."""
    root_id = series.of
    if len(root_id) > MAX_ROOT_ID_LENGTH:
        digest = sha256(root_id.encode()).hexdigest()[:12]
        root_id = f"{root_id[: MAX_ROOT_ID_LENGTH - 13]}-{digest}"
    return PlayOffCalled(f"{root_id}-po{series.number}", series, seats)


# -- the game that follows ---------------------------------------------------------------


def next_game(state: GameState) -> tuple[str, CreateGame] | None:
    """The id of the play-off game that follows this one, and the command that creates it: the same rules,
    board and rule options, the seats that play off, no named seed. None if no game follows."""
    if state.next_play_off is None:
        return None
    seats = state.next_play_off.seats
    rule_options = state.ruleset.options_schema.write(
        state.rule_options
    )  # all of them: today's defaults may differ
    # fewer seats may play off than the rules need for a game
    rule_options["seats_least"] = min(rule_options["seats_least"], len(seats))
    command = CreateGame(
        tuple(seat_plan_of(state.seats[seat]) for seat in seats),
        ruleset=state.ruleset.name,
        board=state.ruleset.board_of(state),
        options=rule_options,
        play_off=state.next_play_off.play_off,
        **state.access.fields(),
    )
    return state.next_play_off.game, command


def seat_plan_of(seat_state: SeatState) -> SeatPlan:
    """The plan of a seat that is taken again by the same player."""
    kind = "bot" if seat_state.policy else "human"
    name = seat_state.name or ERASED_NAME
    return SeatPlan(kind, seat_state.policy, name, seat_state.age)  # type: ignore[arg-type]  # validated at creation
