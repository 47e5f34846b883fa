"""P9: errors that repeat are logged once, then counted: no broken game fills the disk with lines."""

from __future__ import annotations

import json
import logging
from io import StringIO
from typing import Any, Final

import pytest
import structlog

from services.runtime.logging_setup import (
    LINES_AT_ONCE,
    MAX_FIELD_CHARACTERS,
    MAX_KINDS,
    MAX_SUBJECTS,
    SUMMARY_S,
    RepeatLimit,
    get_logger,
)
from tests.security.captured_logging import logging_to

GAMES: Final = tuple(f"game-{number}" for number in range(6))
DAMAGE: Final = "game is damaged"


class Limited:
    """A limit with a clock that a test sets, and what got through it."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.lines: list[str] = []
        self.summaries: list[dict[str, Any]] = []
        self.limit = RepeatLimit(self.summarise, lambda: self.now_s)

    def summarise(self, service: str, sentence: str, fields: dict[str, object], level: int) -> None:
        self.summaries.append({"service": service, "event": sentence, "level": level, **fields})

    def log(self, event: str, method: str = "error", **fields: object) -> None:
        try:
            passed = self.limit(None, method, {"service": "referee", "event": event, **fields})
        except structlog.DropEvent:
            return
        self.lines.append(f"{passed['event']} {passed.get('game', '')}".strip())


@pytest.fixture
def limited() -> Limited:
    return Limited()


def test_the_summary_of_lines_that_only_inform_is_no_warning(limited: Limited) -> None:
    for _ in range(LINES_AT_ONCE + 1):
        limited.log("request", "info")
        limited.log("node away", "warning")
    limited.limit.flush()
    levels = {summary["event"]: summary["level"] for summary in limited.summaries}
    assert levels == {"repeated: request": logging.INFO, "repeated: node away": logging.WARNING}


def test_P9_six_unreadable_games_for_four_minutes_are_a_few_lines(limited: Limited) -> None:
    for tick in range(1_767):  # the 10,600 errors that were counted in 4 minutes
        limited.now_s = tick * 240 / 1_767
        if tick and int(limited.now_s) // 60 > int(limited.now_s - 240 / 1_767) // 60:
            limited.limit.flush()
        for game in GAMES:
            limited.log(DAMAGE, game=game)
    limited.limit.flush()
    assert limited.lines == [f"{DAMAGE} {game}" for game in GAMES]
    assert len(limited.summaries) == 4
    assert {summary["event"] for summary in limited.summaries} == {f"repeated: {DAMAGE}"}
    assert sum(summary["more"] for summary in limited.summaries) == 1_767 * 6 - 6
    assert set(limited.summaries[0]["about"]) == set(GAMES)


def test_P9_another_kind_game_or_service_is_a_line_of_its_own(limited: Limited) -> None:
    for _ in range(3):
        limited.log(DAMAGE, game="one")
        limited.log(DAMAGE, game="two")
        limited.log("view has a gap", game="one")
        limited.log("engine unavailable")
    assert limited.lines == [f"{DAMAGE} one", f"{DAMAGE} two", "view has a gap one", "engine unavailable"]


def test_P9_what_was_quiet_for_a_minute_is_news_again(limited: Limited) -> None:
    limited.log(DAMAGE, game="one")
    limited.now_s = SUMMARY_S - 1
    limited.log(DAMAGE, game="one")
    limited.now_s = 2 * SUMMARY_S
    limited.log(DAMAGE, game="one")
    assert len(limited.lines) == 2
    limited.now_s = 4 * SUMMARY_S
    limited.limit.flush()
    limited.log(DAMAGE, game="one")
    assert len(limited.lines) == 3


def test_P8_each_change_of_state_is_a_line_however_often_it_comes(limited: Limited) -> None:
    for _ in range(3):
        limited.log("engine away, trying until it is back", "warning")
        limited.log("engine back", "info")
        limited.log("partition stalled", "warning", partition=7)
    assert len(limited.lines) == 9


def test_P9_errors_of_ever_new_games_have_a_rate_and_few_are_kept(limited: Limited) -> None:
    for number in range(3 * MAX_SUBJECTS):
        limited.log(DAMAGE, game=f"game-{number}")
    assert len(limited.lines) == LINES_AT_ONCE
    limited.limit.flush()
    [summary] = limited.summaries
    assert summary["more"] == 3 * MAX_SUBJECTS - LINES_AT_ONCE
    assert summary["about"]["others"] == summary["more"] - MAX_SUBJECTS


def test_P9_each_event_has_a_rate_and_what_is_left_out_is_counted_by_game(limited: Limited) -> None:
    # given a client whose commands are refused, 443 a second for a minute, and another player's game
    for tick in range(26_620):
        limited.now_s = tick * 60 / 26_620
        limited.log("command rejected without an entry", "info", game="flooded")
    limited.log("game created", "info", game="another")
    # then the flood's lines are few, and the summary says how many there were
    limited.limit.flush()
    assert len(limited.lines) == LINES_AT_ONCE + 60
    assert limited.lines[-1] == "game created another"
    assert [summary["about"] for summary in limited.summaries] == [{"flooded": 26_620 - LINES_AT_ONCE - 59}]


def test_P9_ever_new_events_are_few_and_debug_lines_are_all_there(limited: Limited) -> None:
    for number in range(3 * MAX_KINDS):
        limited.log(f"event {number}", "info")
        limited.log("entry appended", "debug")
    assert len([line for line in limited.lines if line != "entry appended"]) == MAX_KINDS + LINES_AT_ONCE
    assert limited.lines.count("entry appended") == 3 * MAX_KINDS


def test_a_line_holds_no_long_text() -> None:
    out = StringIO()
    with logging_to(out, "json"):
        get_logger("referee").info("command refused", why="x" * 100_000)
    assert len(out.getvalue()) < MAX_FIELD_CHARACTERS + 300


def test_P9_a_services_log_has_the_limit() -> None:
    out = StringIO()
    with logging_to(out, "json"):
        for _ in range(1_000):
            for game in GAMES:
                get_logger("referee").error(DAMAGE, game=game, error="no event can be read")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["game"] for line in lines] == list(GAMES)
