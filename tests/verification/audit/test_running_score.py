"""PASSENGER-3: a passenger's points are in the running score at once, wherever that is shown."""

from __future__ import annotations

import pytest
from rich.console import Console

from schemas.trains.events import PassengerMoved
from services.cli.tables.game_tables import standings_table
from services.referee.games import fold
from services.referee.games.trains.scoring import train_scores
from services.text.sentences import game_summary_json
from services.verification.audit import audit
from services.verification.explanation import explain, explanation_json, game_state_json
from services.verification.replay import Replay
from services.verification.report.page import render_page
from tests.verification.audit.given import entries, find, golden

JOURNEYS = "marklin-journeys"
NUMBER = find(
    JOURNEYS,
    lambda entry: any(isinstance(event, PassengerMoved) and event.points for event in entry.events),
)
MOVED = next(event for event in entries(JOURNEYS)[NUMBER - 1].events if isinstance(event, PassengerMoved))
BEFORE, AFTER = fold(golden(JOURNEYS)[: NUMBER - 1]), fold(golden(JOURNEYS)[:NUMBER])


def test_PASSENGER_3_a_replay_and_a_state_as_json_show_it() -> None:
    first, then = (
        game_state_json(state, "referee")["seats"][MOVED.seat]["points"] for state in (BEFORE, AFTER)
    )
    assert then - first == MOVED.points > 0
    console = Console(width=200)
    with console.capture() as printed:
        console.print(standings_table(AFTER))
    row = next(line for line in printed.get().splitlines() if f" {'ABCDE'[MOVED.seat]}  │" in line)
    assert f"│ {then} " in row


def test_PASSENGER_3_the_list_of_games_shows_it() -> None:
    before, after = (game_summary_json(state, 0, 0)["seats"][MOVED.seat] for state in (BEFORE, AFTER))
    assert after["merchandise"] - before["merchandise"] == MOVED.points
    assert after["total"] - before["total"] == MOVED.points


def test_PASSENGER_3_the_arbiters_page_and_the_explained_entry_show_it() -> None:
    replay = Replay(JOURNEYS, golden(JOURNEYS))
    explained = explain(replay, NUMBER)
    points = [state.seats[MOVED.seat].own.running_score for state in (BEFORE, AFTER)]
    assert f"<strong>{points[0]} → {points[1]}</strong>" in render_page(audit(replay), replay, explained)
    seen = explanation_json(explained)["seen"]
    assert [
        seen[str(MOVED.seat)][when]["seats"][MOVED.seat]["points"] for when in ("before", "after")
    ] == points


@pytest.mark.parametrize("seat", range(2))
def test_PASSENGER_3_the_running_score_of_routes_and_merchandise_is_what_the_end_counts(seat: int) -> None:
    state = fold(golden(JOURNEYS))
    assert state.result is not None
    score = train_scores(state.result)[seat]
    assert state.seats[seat].own.running_score == score.routes + score.merchandise
