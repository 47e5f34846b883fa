"""A folded state as the gateway's answers: the table, lists of games, suggestions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from schemas.commands import Command, write_command
from schemas.contract import Json
from schemas.events import Event, Score, SeatScore
from schemas.field_types import Seat
from services.bots.searching.candidate_halving import CandidateValue
from services.bots.suggestions import SUGGESTING
from services.gateway.models.table_models import (
    JudgedChoice,
    ListedGame,
    ListedSeat,
    Move,
    PartsResult,
    PartsTable,
    PartState,
    SeatState,
    SuggestedCommand,
    Suggestions,
    UndoState,
)
from services.gateway.models.trains import TableAnswer
from services.referee.games.state import GameState
from services.rulebook import title_of
from services.text.formatting import pluralize
from services.text.sentences import describe_command, game_status


class OwnTable(NamedTuple):
    """How a family of games shows its own states, which it doesn't describe in parts."""

    answer: Callable[[GameState, Seat | None, Json], TableAnswer]  # the last: the fields of every table
    marks: Callable[[Sequence[Event]], list[str]]  # what these events change on the board, by id


OWN_TABLES: Final[dict[type, OwnTable]] = {}  # by the class of the game's own state


def table_state(
    state: GameState, viewer: Seat | None, number: int, head: bytes, moves: Sequence[Move]
) -> TableAnswer:
    """The table as its viewer sees it after entry `number`: in parts, unless its family has a table of its own."""
    result, undo = state.result, state.undo
    fields: Json = {
        "game": state.game,
        "viewer": "public" if viewer is None else viewer,
        "number": number,
        "head": head.hex() or None,
        "at": state.at_ms,
        "created": state.created_at_ms,
        "age_ms": 0,  # the gateway has a clock
        "status": game_status(state),
        "ruleset": state.ruleset.name,
        "ruleset_title": title_of(state.ruleset.name),
        "turn": state.turn,
        "free_seats": [seat for seat, seat_state in enumerate(state.seats) if not seat_state.is_seated],
        "order": state.rule_options.order,
        "turn_order": list(state.turn_order),
        "by_invitation": state.access.by_invitation,
        "suggestions": has_suggestions(state) and (state.access.suggestions or result is not None),
        "ended": result.reason if result else None,
        "play_off": state.next_play_off.game if state.next_play_off else None,
        "undo": undo and UndoState(seat=undo.seat, waiting=None if undo.waiting is None else [*undo.waiting]),
        "moves": list(moves),
    }
    if (own := OWN_TABLES.get(type(state.own))) is not None:
        return own.answer(state, viewer, fields)
    assert state.ruleset.describe is not None, "a game without a table of its own describes it"
    return PartsTable(
        **fields,
        seats=[SeatState(**seat_fields(state, seat)) for seat in range(len(state.seats))],
        parts=[
            PartState(
                name=part.name,
                seat=part.seat,
                cards=None if part.cards is None else list(part.cards),
                number=part.number,
                text=part.text,
            )
            for part in state.ruleset.describe(state, viewer)
        ],
        drawing=state.ruleset.draw(state, viewer) if state.ruleset.draw else None,
        result=[_parts_result(score) for score in result.scores] if result else None,
    )


def has_suggestions(state: GameState) -> bool:
    """Whether a bot that plays the game can say what a move is worth."""
    return SUGGESTING in state.ruleset.bot_policies


def _parts_result(score: Score) -> PartsResult:
    assert isinstance(score, SeatScore), "what is described in parts is scored in parts"
    return PartsResult(seat=score.seat, place=score.place, total=score.total, parts=dict(score.parts))


def listed_game(state: GameState, number: int) -> ListedGame:
    """The game as a list shows it."""
    board = state.own.board if state.ruleset.default_board else None
    scores = {score.seat: score for score in state.result.scores} if state.result else {}
    seats = [
        ListedSeat(
            seat=seat,
            name=seat_state.name or None,
            kind=seat_state.kind,  # type: ignore[arg-type]  # one of its two words
            policy=seat_state.policy,
            free=not seat_state.is_seated,
            total=scores[seat].total if scores else None,
            place=scores[seat].place if scores else None,
        )
        for seat, seat_state in enumerate(state.seats)
    ]
    return ListedGame(
        game=state.game,
        status=game_status(state),  # type: ignore[arg-type]  # one of its three words
        ruleset=state.ruleset.name,
        ruleset_title=title_of(state.ruleset.name),
        board=board and board.id,
        board_title=board and board.title,
        created=state.created_at_ms,
        number=number,
        seats=seats,
        free=sum(seat.free for seat in seats),
        turn=state.turn,
    )


def seat_fields(state: GameState, seat: Seat) -> Json:
    """A seat's fields that every game has."""
    seat_state = state.seats[seat]
    return {
        "seat": seat,
        "name": seat_state.name or None,
        "kind": seat_state.kind,
        "policy": seat_state.policy,
        "seated": seat_state.is_seated,
        "choice": state.pending_choices.get(seat),
        "clock_ms": None if state.rule_options.clock_ms is None else seat_state.clock_ms,
        "deadline_ms": seat_state.deadline_ms if seat in state.pending_choices else None,
        "gone": seat_state.exit_reason,
    }


# -- suggestions ----------------------------------------------------------------------------


def suggestions(
    state: GameState, seat: Seat, number: int, candidates: Sequence[CandidateValue]
) -> Suggestions:
    """The candidates for a seat's move as an answer, the best first."""
    return Suggestions(
        game=state.game,
        seat=seat,
        number=number,
        commands=[_suggested(state, seat, each, candidates[0]) for each in candidates],
    )


def judged_choice(
    state: GameState, seat: Seat, number: int, candidates: Sequence[CandidateValue], command: Command
) -> JudgedChoice:
    """What a seat did, against the first of the candidates."""
    best = candidates[0] if candidates else _unplayed(command)
    done = next((each for each in candidates if each.is_done), _unplayed(command))
    cost = None
    if best.lead is not None and done.lead is not None:
        cost = max(0.0, best.lead - done.lead)
    return JudgedChoice(
        game=state.game,
        seat=seat,
        place=0,  # the gateway knows which one it is, and of how many
        choices=0,
        number=number,
        done=_suggested(state, seat, done, best),
        best=None if best.command == command else _suggested(state, seat, best, best),
        cost=_rounded(cost),
        cost_error=None if cost is None else _rounded(done.loss_error),
        forks=state.ruleset.fork_command is not None,
    )


def _unplayed(command: Command) -> CandidateValue:
    return CandidateValue(command, 0, None, None, None, None, None, is_planners=False, is_done=True)


def _suggested(
    state: GameState, seat: Seat, candidate: CandidateValue, best: CandidateValue
) -> SuggestedCommand:
    return SuggestedCommand(
        command=write_command(candidate.command),
        text=describe_command(state, seat, candidate.command),
        why=_reason(candidate, best),
        points=_rounded(candidate.points),
        points_error=_rounded(candidate.points_error),
        lead=_rounded(candidate.lead),
        lead_error=_rounded(candidate.lead_error),
        games=candidate.rollouts,
    )


def _reason(candidate: CandidateValue, best: CandidateValue) -> str:
    """Why the candidate comes in its place."""
    if candidate.is_done and candidate.points is None:
        return "It wasn't played out."
    if candidate.points is None or candidate.lead is None:
        return "What the bot planner would do; nothing else was worth playing out."
    played = pluralize(candidate.rollouts, "game")
    expected = f"You end with about {candidate.points:.0f} points"
    if candidate.lead >= 0:
        expected += f", {candidate.lead:.0f} ahead of the best other seat"
    else:
        expected += f", {-candidate.lead:.0f} behind the best other seat"
    sentences = [f"{expected}: the mean of {played} played out from here."]
    if candidate is not best:
        sentences.append(_comparison(candidate, best))
    elif candidate.is_planners:
        sentences.append("The bot planner would do the same.")
    return " ".join(sentences)


def _comparison(candidate: CandidateValue, best: CandidateValue) -> str:
    assert candidate.lead is not None and best.lead is not None, "both were played out"
    loss = best.lead - candidate.lead
    if loss <= 0:
        return "Its lead is larger, but too few games show it, or a few won by far make it."
    surely = "" if loss > 2 * (candidate.loss_error or loss) else ", which may be chance"
    return f"Its lead is {loss:.1f} points smaller than the first's{surely}."


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
