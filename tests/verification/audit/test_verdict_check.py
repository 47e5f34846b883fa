"""Every command of a log is decided again; a difference is found at its entry, and stated in a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.events import CommandRefused, GameEnded, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind
from schemas.trains.events import CardDrawn, MarketFilled, RouteClaimed, TrainScore
from services.verification.audit import audit
from services.verification.log_check import Finding, replay_findings, value_in_words
from services.verification.replay import Replay
from tests.verification.audit.given import NAMES, USA, entries, find, golden, rewritten

MISCHIEF = "usa-mischief"


def found(log: list[bytes], game: str = USA) -> list[Finding]:
    return list(replay_findings(Replay(game, log)))


def test_an_honest_game_of_any_version_has_no_findings(subtests: pytest.Subtests) -> None:
    for game in NAMES:
        with subtests.test(game):
            done = audit(Replay(game, golden(game)))
            assert (done.findings, done.ok, done.checked) == ((), True, ("verdict", "fold"))


def test_a_swapped_card_is_found_where_it_was_drawn() -> None:
    number = find(USA, lambda e: isinstance(e.events[0], CardDrawn))
    drawn, *rest = entries()[number - 1].events
    assert isinstance(drawn, CardDrawn)
    other = "red" if drawn.card != "red" else "blue"
    first = found(rewritten(golden(), number, replace(drawn, card=other), *rest))[0]
    assert (first.number, first.kind) == (number, "verdict")
    assert f"with {other} as the card; by the rules it is {drawn.card}" in first.why


def test_one_altered_entry_causes_no_findings_in_the_entries_after_it() -> None:
    number = find(USA, lambda e: isinstance(e.events[0], RouteClaimed))
    claimed, *rest = entries()[number - 1].events
    assert isinstance(claimed, RouteClaimed)
    log = rewritten(golden(), number, replace(claimed, points=claimed.points + 1), *rest)
    claim, end = found(log)
    assert (claim.number, end.number) == (number, len(log))
    assert "counted (SCORE-1)" in end.why


def test_a_legal_command_that_was_refused_is_found() -> None:
    number = find(USA, lambda e: isinstance(e.command, ClaimRoute))
    refused = CommandRefused(entries()[number - 1].seat, "ROUTE-1", "somebody has it")
    first = found(rewritten(golden(), number, refused, command=entries()[number - 1].command))[0]
    assert first == Finding(
        number, "verdict", "It was refused by ROUTE-1 (somebody has it), but the rules accept it."
    )


def test_an_illegal_command_that_was_accepted_is_found() -> None:
    number = find(MISCHIEF, lambda e: e.refusal and e.refusal.rule == "ROUTE-2")
    claim = entries(MISCHIEF)[number - 1]
    assert isinstance(claim.command, ClaimRoute)
    assert claim.seat is not None
    laid = RouteClaimed(claim.seat, claim.command.route, claim.command.cards, 4)
    log = rewritten(golden(MISCHIEF), number, laid, TurnStarted((claim.seat + 1) % 4))
    first = found(log, MISCHIEF)[0]
    assert (first.number, first.kind) == (number, "verdict")
    assert first.why.startswith("It was accepted, but the rules refuse it by ROUTE-2: ")


def test_a_refusal_by_another_rule_is_found_and_another_wording_is_not() -> None:
    number = find(MISCHIEF, lambda e: e.refusal and e.refusal.rule == "ROUTE-2")
    refusal = entries(MISCHIEF)[number - 1].refusal
    assert refusal is not None
    assert found(rewritten(golden(MISCHIEF), number, replace(refusal, why="no")), MISCHIEF) == []
    (only,) = found(rewritten(golden(MISCHIEF), number, replace(refusal, rule="ROUTE-1")), MISCHIEF)
    assert only.number == number
    assert only.why.startswith("It was refused by ROUTE-1; the rules refuse it by ROUTE-2: ")


def test_a_missing_and_an_added_event_are_found() -> None:
    number = find(USA, lambda e: len(e.events) > 1 and isinstance(e.events[-1], MarketFilled))
    *kept, filled = entries()[number - 1].events
    less = found(rewritten(golden(), number, *kept))[0]
    assert (less.number, "also comes to market filled" in less.why) == (number, True)
    more = found(rewritten(golden(), number, *kept, filled, TurnStarted(0)))[0]
    assert (more.number, "turn started, which doesn't come of it" in more.why) == (number, True)


def test_a_dropped_entry_is_found_where_it_is_missing() -> None:
    number = find(USA, lambda e: isinstance(e.command, DrawBlind), skip=3)
    log = golden()
    assert found([*log[: number - 1], *log[number:]])[0].number == number


def test_P2_a_second_verdict_on_one_command_is_found() -> None:
    number = find(USA, lambda e: isinstance(e.command, DrawBlind), skip=3)
    before = entries()[number - 2]
    log = rewritten(golden(), number, id=before.id, seat=before.seat)
    whys = [finding.why for finding in found(log) if finding.number == number]
    assert f"Command {before.id} had its verdict in entry {number - 1} already." in whys


def test_a_time_before_that_of_the_last_entry_is_found() -> None:
    number = find(USA, lambda e: isinstance(e.command, DrawBlind), skip=3)
    early = entries()[number - 2].at - 7
    assert Finding(
        number, "fold", "Its time is 7 ms before that of the entry before it."
    ) in found(rewritten(golden(), number, at=early))  # fmt: skip


def test_an_entry_after_the_end_of_the_game_is_found() -> None:
    log = golden()
    (after,) = found([*log, rewritten(log, len(log), id="late")[-1]])
    assert (after.number, "GAME-3" in after.why) == (len(log) + 1, True)


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x90", b"\x91\x01", b"not an entry"])
def test_an_undecodable_entry_ends_the_audit_with_one_finding(damage: bytes) -> None:
    log = golden()
    (only,) = found([*log[:40], damage, *log[41:]])
    assert (only.number, only.kind) == (41, "fold")


def test_an_empty_log_and_one_without_its_beginning_are_findings() -> None:
    assert found([]) == [Finding(None, "fold", "The log is empty.")]
    (only,) = found(golden()[1:])
    assert (only.number, only.kind) == (1, "fold")


def test_a_log_under_another_game_s_id_is_found() -> None:
    first = found(golden(), "another-game")[0]
    assert (
        first.number,
        "with usa-four-mixed as the game; by the rules it is another-game" in first.why,
    ) == (1, True)


def test_a_finding_about_a_long_value_names_the_first_field_that_differs() -> None:
    number = find(USA, lambda e: isinstance(e.events[-1], GameEnded))
    *before, ended = entries()[number - 1].events
    assert isinstance(ended, GameEnded)
    assert isinstance(ended.scores[1], TrainScore)
    scores = (ended.scores[0], replace(ended.scores[1], total=500), *ended.scores[2:])
    (only,) = found(rewritten(golden(), number, *before, replace(ended, scores=scores)))
    right = ended.scores[1].total
    assert (
        f"game ended with 500 as the total of no. 2 of scores; by the rules it is {right} (event" in only.why
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"red": 2, "locomotive": 1}, "2 red, 1 locomotive"),
        (["blue", None, "white"], "blue, nothing, white"),
        ({}, "nothing"),
        (0, "0"),
        (True, "yes"),
        ({"seat": 1, "hand": {"red": 1}}, "seat 1, hand 1 red"),
    ],
)
def test_a_finding_says_values_in_words(value: object, words: str) -> None:
    assert value_in_words(value) == words
