"""The state of a game, summarized as JSON."""

from __future__ import annotations

from schemas.contract import Json
from services.referee.rules import GameState, score


def game_status(state: GameState) -> str:
    """`waiting` (for players, or to be started), `playing`, or `over`."""
    if state.result:
        return "over"
    return "playing" if state.started else "waiting"


def game_summary_json(state: GameState, event_count: int, entry_count: int) -> Json:
    """A game as a JSON object: its seats and their scores, as far as this state knows them."""
    scores = state.result.scores if state.result else score(state)
    seats = []
    for seat_score, seat_state in zip(scores, state.seats, strict=True):
        seats.append(
            {
                "seat": seat_score.seat,
                "name": seat_state.name,
                "policy": seat_state.policy,
                "routes": seat_score.routes,
                "tickets": seat_score.tickets,
                "made": list(seat_score.made),
                "missed": list(seat_score.missed),
                "lent": list(seat_score.lent),
                "longest": seat_score.longest,
                "bonus": seat_score.bonus,
                "most": seat_score.most,
                "stations": seat_score.stations,
                "merchandise": seat_score.merchandise,
                "total": seat_score.total,
                "place": seat_score.place,
                "cars": seat_state.own.cars,
                "cards": seat_state.own.cards,
                "gone": seat_state.exit_reason,
            }
        )
    return {
        "game": state.game,
        "ruleset": state.ruleset.name,
        "board": state.own.board.id,
        "state": game_status(state),
        "ended": state.result.reason if state.result else None,
        "play_off": state.next_play_off.game if state.next_play_off else None,
        "play_off_of": state.play_off.of if state.play_off else None,
        **({"forked": dict(zip(("of", "at"), state.fork_origin, strict=True))} if state.fork_origin else {}),
        "events": event_count,
        "entries": entry_count,
        "seats": seats,
    }
