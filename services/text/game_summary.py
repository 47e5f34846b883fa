"""The state of a game, summarized as JSON."""

from __future__ import annotations

from schemas.contract import Json
from schemas.events import Score, SeatScore
from schemas.trains.events import TrainScore
from services.referee.games.seat_state import SeatState
from services.referee.games.state import GameState


def game_status(state: GameState) -> str:
    """`waiting` (for players, or to be started), `playing`, or `over`."""
    if state.result:
        return "over"
    return "playing" if state.started else "waiting"


def game_summary_json(state: GameState, event_count: int, entry_count: int) -> Json:
    """A game as a JSON object: its seats and their scores, as far as this state knows them."""
    scores = state.result.scores if state.result else state.ruleset.score(state)
    seats = [
        {
            "seat": score.seat,
            "name": seat_state.name,
            "policy": seat_state.policy,
            **_parts_json(score, seat_state),
            "total": score.total,
            "place": score.place,
            "gone": seat_state.exit_reason,
        }
        for score, seat_state in zip(scores, state.seats, strict=True)
    ]
    return {
        "game": state.game,
        "ruleset": state.ruleset.name,
        **({} if state.ruleset.describe else {"board": state.own.board.id}),
        "state": game_status(state),
        "ended": state.result.reason if state.result else None,
        "play_off": state.next_play_off.game if state.next_play_off else None,
        "play_off_of": state.play_off.of if state.play_off else None,
        **({"forked": dict(zip(("of", "at"), state.fork_origin, strict=True))} if state.fork_origin else {}),
        "events": event_count,
        "entries": entry_count,
        "seats": seats,
    }


def _parts_json(score: Score, seat_state: SeatState) -> Json:
    """What a seat's total is made of; of a train game also what the seat has left."""
    if isinstance(score, SeatScore):
        return dict(score.parts)
    assert isinstance(score, TrainScore), "no other game counts otherwise"
    return {
        "routes": score.routes,
        "tickets": score.tickets,
        "made": list(score.made),
        "missed": list(score.missed),
        "lent": list(score.lent),
        "longest": score.longest,
        "bonus": score.bonus,
        "most": score.most,
        "stations": score.stations,
        "merchandise": score.merchandise,
        "cars": seat_state.own.cars,
        "cards": seat_state.own.cards,
    }
