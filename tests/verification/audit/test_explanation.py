"""One move explained: who saw what, the command, the verdict, the rule, the alternatives."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from schemas.errors import CorruptDataError, InvalidInputError
from schemas.refusals import EVERY_RULE
from schemas.trains.commands import ClaimRoute, DrawBlind
from schemas.trains.events import CardDrawn
from services.referee.games import GameState, fold, legal, redact_for
from services.verification.audit import audit, audit_json
from services.verification.explanation import explain, seat_explanation_json
from services.verification.replay import Replay, fold_until
from tests.long_runs import long_after
from tests.verification.audit.given import USA, entries, find, golden, rewritten

GAMES = (
    "usa-mischief",
    "europe-mischief",
    "marklin-mischief",
    "trains-requests",
    "usa-own-board",
    "tricks-mischief",
)


@pytest.mark.parametrize("step", long_after(1, (29, 7)))
@pytest.mark.parametrize("game", GAMES)
def test_every_entry_of_a_game_can_be_explained_and_written_as_json(game: str, step: int) -> None:
    log = golden(game)
    replay, audited = Replay(game, log), audit(Replay(game, log[:1]))
    for number in {*range(1, len(log) + 1, step), len(log)}:
        explained = explain(replay, number)
        assert explained.doubt == ""
        move = json.loads(json.dumps(audit_json(audited, replay, number)["move"]))
        assert (move["number"], move["as_the_rules_say"]) == (number, True)
        assert set(move["seen"]) == {"referee", "public", *map(str, range(len(explained.after.seats)))}


def test_a_drawn_card_is_seen_by_its_seat_and_the_referee_and_by_nobody_else() -> None:
    number = find(USA, lambda e: isinstance(e.events[0], CardDrawn), skip=5)
    explained = explain(Replay(USA, golden()), number)
    drawn = explained.entry.events[0]
    assert isinstance(drawn, CardDrawn)
    shown = {
        viewer: perspective.narrated_events[0].event for viewer, perspective in explained.perspectives.items()
    }
    for viewer, event in shown.items():
        assert isinstance(event, CardDrawn)
        assert (event.card is not None) == (viewer in ("referee", drawn.seat)), viewer


def test_a_viewer_s_state_is_the_fold_of_what_it_was_shown() -> None:
    number = 100
    explained = explain(Replay(USA, golden()), number)
    for seat in range(4):
        other = (seat + 1) % 4
        before = explained.perspectives[seat].before
        assert set(before.own.deck) == {None}
        assert before.seats[seat].own.hand == explained.before.seats[seat].own.hand
        assert before.seats[other].own.cards == explained.before.seats[other].own.cards
        assert before.seats[other].own.tickets == [None] * len(explained.before.seats[other].own.tickets)
    assert explained.after.own.route_owners == fold(golden()[:number]).own.route_owners


def test_the_alternatives_are_what_the_seat_could_have_done() -> None:
    number = find(USA, lambda e: isinstance(e.command, ClaimRoute), skip=9)
    explained = explain(Replay(USA, golden()), number)
    assert explained.entry.seat is not None
    assert list(explained.alternatives) == legal(fold(golden()[: number - 1]), explained.entry.seat)
    assert explained.entry.command in explained.alternatives


def test_the_refusing_rule_is_cited_first_with_its_sentence_and_its_passage() -> None:
    number = find("usa-mischief", lambda e: e.refusal and e.refusal.rule == "ROUTE-2")
    cited = explain(Replay("usa-mischief", golden("usa-mischief")), number).cited
    assert (cited[0].rule, cited[0].sentence) == ("ROUTE-2", EVERY_RULE["ROUTE-2"])
    assert "of one colour" in cited[0].passage or "all of one colour" in cited[0].passage
    assert "TUNNEL-1" not in [rule.rule for rule in cited]  # the game has none


def test_a_wrong_verdict_is_explained_with_the_move() -> None:
    number = find(USA, lambda e: isinstance(e.command, DrawBlind) and len(e.events) > 1)
    drawn, *rest = entries()[number - 1].events
    assert isinstance(drawn, CardDrawn)
    other = CardDrawn(drawn.seat, "red" if drawn.card != "red" else "blue")
    explained = explain(Replay(USA, rewritten(golden(), number, other, *rest)), number)
    assert "by the rules it is" in explained.doubt


def test_seeking_gives_the_state_after_any_entry() -> None:
    log = golden()
    assert not fold_until(log, 0).game
    for number in (1, 57, len(log)):
        assert fold_until(log, number).own.route_owners == fold(log[:number]).own.route_owners


@pytest.mark.parametrize("number", [0, -1, 10_000])
def test_an_unknown_entry_number_is_one_clear_line(number: int) -> None:
    with pytest.raises(InvalidInputError, match=r"^--at: game usa-four-mixed has 233 entries"):
        explain(Replay(USA, golden()), number)


def test_explaining_a_move_after_a_damaged_entry_names_that_entry() -> None:
    log = golden()
    with pytest.raises(CorruptDataError, match="entry 41"):
        explain(Replay(USA, [*log[:40], b"\xc1", *log[41:]]), 60)
    assert audit_json(audit(Replay(USA, [b"\xc1"])), Replay(USA, [b"\xc1"]), 1)["move"]["number"] == 1


def test_a_seat_is_shown_exactly_its_redacted_events() -> None:
    explained = explain(Replay(USA, golden()), 30)
    for seat in range(4):
        expected = [seen for event in explained.entry.events if (seen := redact_for(seat, event)) is not None]
        assert [line.event for line in explained.perspectives[seat].narrated_events] == expected
    assert isinstance(explained.perspectives["public"].before, GameState)


def test_P5_what_a_seat_is_shown_while_the_game_runs_does_not_depend_on_what_it_may_not_know() -> None:
    number = find(USA, lambda e: isinstance(e.events[0], CardDrawn), skip=5)
    sender = entries()[number - 1].seat
    drawn, *rest = entries()[number - 1].events
    assert isinstance(drawn, CardDrawn)
    other = replace(drawn, card="red" if drawn.card != "red" else "blue")
    log = rewritten(golden(), number, other, *rest)
    honest, swapped = explain(Replay(USA, golden()), number), explain(Replay(USA, log), number)
    for seat in range(4):
        same = json.dumps(seat_explanation_json(honest, seat)) == json.dumps(
            seat_explanation_json(swapped, seat)
        )
        assert same == (seat != sender)


def test_the_sender_is_shown_all_of_its_own_move_but_not_what_is_wrong_with_its_verdict() -> None:
    number = find("usa-mischief", lambda e: e.refusal and e.refusal.rule == "ROUTE-2")
    explained = explain(Replay("usa-mischief", golden("usa-mischief")), number)
    assert explained.entry.seat is not None
    own = seat_explanation_json(explained, explained.entry.seat)
    assert (own["refusal"]["rule"], own["as_the_rules_say"]) == ("ROUTE-2", True)
    assert set(own["seen"]) == {str(explained.entry.seat)}
    assert "doubt" not in own
    others = seat_explanation_json(explained, (explained.entry.seat + 1) % 4)
    assert set(others) == {"number", "at", "seen"}
