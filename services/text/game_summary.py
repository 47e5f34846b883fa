"""The state of a game, summarized as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from schemas.contract import Json
from schemas.events import Score, SeatScore
from schemas.registry import OfItsGame
from services.referee.games.state import GameState, SeatState


def game_status(state: GameState) -> str:
    """`waiting` (for players, or to be started), `playing`, or `over`."""
    if state.result:
        return "over"
    return "playing" if state.started else "waiting"


def game_summary_json(state: GameState, event_count: int, entry_count: int) -> Json:
    """A game as a JSON object: its seats and their scores, as far as this state knows them."""
    own = OWN_SUMMARIES.get(type(state.own), _BY_PARTS)
    scores = state.result.scores if state.result else state.ruleset.score(state)
    seats = [
        {
            "seat": score.seat,
            "name": seat_state.name,
            "policy": seat_state.policy,
            **own.of_seat(score, seat_state),
            "total": score.total,
            "place": score.place,
            "gone": seat_state.exit_reason,
        }
        for score, seat_state in zip(scores, state.seats, strict=True)
    ]
    return {
        "game": state.game,
        "ruleset": state.ruleset.name,
        **own.of_game(state),
        "state": game_status(state),
        "ended": state.result.reason if state.result else None,
        "play_off": state.next_play_off.game if state.next_play_off else None,
        "play_off_of": state.play_off.of if state.play_off else None,
        **({"forked": dict(zip(("of", "at"), state.fork_origin, strict=True))} if state.fork_origin else {}),
        "events": event_count,
        "entries": entry_count,
        "seats": seats,
    }


class OwnSummary(NamedTuple):
    """What a summary says, besides, of a game whose score isn't made of named parts."""

    of_game: Callable[[GameState], Json]
    of_seat: Callable[[OfItsGame, SeatState], Json]  # of its score


OWN_SUMMARIES: Final[dict[type, OwnSummary]] = {}  # by the class of the game's own state


def _scored_parts(score: Score, seat_state: SeatState) -> Json:
    assert isinstance(score, SeatScore), "a game that counts otherwise has a summary of its own"
    return dict(score.parts)


_BY_PARTS: Final = OwnSummary(lambda state: {}, _scored_parts)
