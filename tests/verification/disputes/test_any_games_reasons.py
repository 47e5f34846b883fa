"""Disputes in a game that isn't a train game: the answer cites the game's own rules, and its page's passages."""

from __future__ import annotations

from functools import cache

import pytest

from schemas.commands import Command
from schemas.events import Event
from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.web.disputes import DisputeMove
from services.referee.games import legal
from services.referee.games.tricks import PlayCard
from services.verification.dispute_answers import (
    NOTHING_NAMED,
    RULES_AGREE_ANSWER,
    answer_on_reason,
    seat_visible_answer,
)
from services.verification.explanation import explain
from services.verification.replay import Replay, TimedEvents
from tests.verification.audit.small_server import SmallServer


class Unwilling(SmallServer):
    """A server of a game of tricks, in which one seat first tries not to follow suit. `refused` is that entry."""

    refused = 0

    def process(self, seat: Seat | None, command: Command) -> tuple[Event, ...]:
        if not self.refused and seat is not None and isinstance(command, PlayCard):
            followed = [each.card for each in legal(self.state, seat) if isinstance(each, PlayCard)]
            others = [card for card in self.state.seats[seat].own.cards if card not in followed]
            if others:
                self.refused = len(self.log) + 1
                super().process(seat, PlayCard(others[0]))
        return super().process(seat, command)


@cache
def played() -> Unwilling:
    server = Unwilling()
    server.play(ruleset="tricks")
    return server


def entries() -> list[TimedEvents]:
    replay = Replay(played().game, [each.entry for each in played().log])
    return [(entry.at, entry.events) for entry in replay.decoded.entries]


def card_of(number: int) -> tuple[Seat, str]:
    """Who played what in an entry."""
    (event,) = [event for event in entries()[number - 1][1] if event.type == "card_played"]
    return event.seat, event.card  # type: ignore[attr-defined]


def answer(number: int, reason: str, viewer: Seat | None = None) -> str:
    return answer_on_reason(DisputeMove(number, reason), entries(), {}, viewer)


def test_a_refused_move_is_answered_by_its_rule() -> None:
    number = played().refused
    seat, _ = card_of(number + 1)
    assert (
        answer(number, "FOLLOW-1?")
        == f"In this entry seat {seat} was refused by FOLLOW-1: you can follow suit, so you must."
    )


def test_a_move_is_right_by_the_rule_that_the_reason_names() -> None:
    number = played().refused + 1
    seat, card = card_of(number)
    assert (
        answer(number, f"seat {seat} had to follow suit, FOLLOW-1")
        == f"In this entry seat {seat} plays {card}, which was right by FOLLOW-1."
    )
    assert (
        answer(number, f"it played {card}")
        == f"In this entry seat {seat} plays {card}, which was right by HAND-1."
    )
    assert answer(number, "ROUTE-1").endswith("ROUTE-1 is no rule of tricks.")
    assert answer(number, "it stinks") == NOTHING_NAMED


def test_a_card_that_was_played_elsewhere_is_found() -> None:
    number = played().refused + 1
    (seat, card), (other_seat, other_card) = card_of(number), card_of(number + 1)
    found = f"seat {other_seat} plays {other_card} in entry {number + 1}"
    assert answer(number, f"it was {other_card}").startswith(
        f"In this entry seat {seat} plays {card}; {found}"
    )


def test_P5_while_the_game_runs_another_seat_s_move_is_not_judged() -> None:
    number = played().refused + 1
    seat, card = card_of(number)
    assert (
        answer(number, "FOLLOW-1", viewer=(seat + 1) % 3)
        == f"In this entry seat {seat} plays {card}; whether it could do so is shown when the game is over."
    )


@pytest.mark.parametrize("after", [0, 1])
def test_a_move_is_explained_by_the_rules_of_its_game_and_their_passages(after: int) -> None:
    server = played()
    number = server.refused + after
    cited = explain(Replay(server.game, [each.entry for each in server.log]), number).cited
    assert {citation.rule for citation in cited} == {"FOLLOW-1", "HAND-1"}
    follow = next(citation for citation in cited if citation.rule == "FOLLOW-1")
    assert "Who holds a card of the suit that was led" in follow.sentence
    assert follow.passage.startswith("In turn each seat plays one card.")


@pytest.mark.parametrize("after", [0, 1])
def test_a_seat_is_answered_from_its_own_view(after: int) -> None:
    server = played()
    number = server.refused + after
    seat, _ = card_of(server.refused + 1)
    view = [
        build_view_entry(n, sealed.public, dict(sealed.private_parts).get(seat), sealed.head)
        for n, sealed in enumerate(server.log[:number], 1)
    ]
    command = Replay(server.game, [each.entry for each in server.log]).entry(number).command
    answered = seat_visible_answer(server.game, seat, view, number, command)
    assert (answered["verdict"], answered["as_the_rules_say"]) == (RULES_AGREE_ANSWER, True)
    assert {cited["rule"] for cited in answered["move"]["rules"]} == {"FOLLOW-1", "HAND-1"}
