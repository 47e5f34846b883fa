"""P5 for disputes: while a game runs, two games that a seat can't tell apart give it the same answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from schemas.commands import DrawBlind
from schemas.disputes import parse_dispute_id, unpack_answer
from schemas.entries import ViewEntry
from schemas.events import CommandRefused
from schemas.field_types import Seat
from services.archive import GameFile
from services.referee.rules import fair_randomness
from services.referee.rules.shuffle import shuffled
from services.verification.game_repository import ReconstructedGame
from services.verification.reseal import reseal_log
from services.verification.seat_answer import fold_view, own_verdict_doubt, seat_visible_answer
from tests.referee.running_referee import GAME
from tests.verification.audit.given import golden
from tests.verification.disputes.conftest import Office, open_office
from tests.verification.disputes.games import NOWHERE, end, play

LENGTH: Final = 14
ROOT: Final = re.compile(rb'"root":"[0-9a-f]{64}"')  # a hash with salts in it: any two games differ there
SINCE: Final = re.compile(rb'"since":"[^"]*"')
NEVER_DRAWN: Final = 20  # and every place below it
SWAPPED: Final = {
    "a card of its hand": (0, 5),
    "a card that it draws": (0, 15),
    "a ticket that it is offered": (1, 4),
}  # a shuffle, and a place in it, from the top, of something that only seat 1 is shown


def crooked(epoch_: int, place: int) -> Callable[[Sequence[Any], str, int], tuple[Any, ...]]:
    """A shuffle with what lies there, and something that nobody will see, in each other's place."""

    def shuffle(row: Sequence[Any], key: str, epoch: int) -> tuple[Any, ...]:
        order = [*shuffled(row, key, epoch)]
        if epoch == epoch_:
            far = next(n for n in range(NEVER_DRAWN, len(order)) if order[n] != order[place])
            order[place], order[far] = order[far], order[place]
        return tuple(order)

    return shuffle


def everything_sent(office: Office) -> list[tuple[bytes, str]]:
    """Seat 0 doubts every entry; all that it is sent of it, and what comes with it."""
    ids = [office.raised(0, number, f"key-{number}") for number in range(1, LENGTH + 1)]
    waiting = [office.get(0, f"/{id_}") for id_ in ids]
    office.at.work()
    answered = [office.get(0, f"/{id_}") for id_ in (*ids, "none")]
    replies = (*waiting, *answered, office.get(0, ""))
    return [(ROOT.sub(b"", SINCE.sub(b"", r.content)), str(sorted(r.headers.items()))) for r in replies]


@pytest.mark.parametrize("swapped", SWAPPED)
def test_P5_answers_do_not_depend_on_what_another_holds_even_where_it_was_dealt_crookedly(
    engine_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    swapped: str,
) -> None:
    with open_office(engine_url, tmp_path / "honest") as office:
        assert play(office.at) == LENGTH
        honest, log = everything_sent(office), office.at.ledger.read_entries(GAME)
        found = office.at.ledger.disputes().read_findings(parse_dispute_id(office.raised(0, 1, "key-1")))
        assert unpack_answer(found)["ok"]
    assert "as it should be" not in capsys.readouterr().out

    with open_office(engine_url, tmp_path / "crooked") as office:
        with monkeypatch.context() as cheating:
            cheating.setattr(fair_randomness, "shuffled", crooked(*SWAPPED[swapped]))
            play(office.at)
        assert office.at.ledger.read_entries(GAME) != log
        capsys.readouterr()

        assert everything_sent(office) == honest

        id_ = office.raised(0, 1, "key-1")
        [first, *_] = (
            wrong := unpack_answer(office.at.ledger.disputes().read_findings(parse_dispute_id(id_)))
        )["findings"]
        assert not wrong["ok"]
        assert first["kind"] == "deal"
        assert "disputed game audited, findings" in capsys.readouterr().out

        end(office.at)
        office.at.work()
        whole = office.read_dispute(id_)["answer"]
        assert not whole["ok"]
        assert first in whole["findings"]


def view_of(game: str, viewer: Seat) -> tuple[list[ViewEntry], list[Any]]:
    steps = [*reseal_log(game, golden(game))]
    file = GameFile(game, len(steps), b"", b"", b"", b"", golden(game))
    return ReconstructedGame(file, steps).view(viewer), [step.entry for step in steps]


@pytest.mark.parametrize(
    "game", ["usa-mischief", "europe-sealed-mischief", "marklin-sealed-forked-mixes", "trains-requests"]
)
def test_of_every_command_of_its_own_a_seat_learns_that_the_rules_gave_this_verdict(game: str) -> None:
    for seat in (0, 1):
        view, entries = view_of(game, seat)
        own = [number for number, entry in enumerate(view, 1) if entry.answers]
        assert own
        for number in own[:: max(1, len(own) // 12)]:
            answer = seat_visible_answer(game, seat, view, number, entries[number - 1].command)
            assert (answer["as_the_rules_say"], answer["shown_as_committed"]) == (True, True)
            assert set(answer["move"]["seen"]) == {str(seat)}


def test_of_another_s_command_a_seat_gets_only_what_it_saw(office: Office) -> None:
    play(office.at)
    refused = office.raised(0, 8)  # seat 1 wasn't in turn
    office.at.work()
    answer = office.read_dispute(refused)["answer"]
    assert answer["as_the_rules_say"] is None
    assert set(answer["move"]) == {"number", "at", "seen"}
    assert answer["move"]["seen"]["0"]["events"] == []


def test_a_refusal_that_the_rules_do_not_give_is_answered_at_once_if_the_seat_could_see_it(
    office: Office,
) -> None:
    play(office.at)
    view = office.at.ledger.read_view(GAME, 0)
    number = next(e.number for e in view if e.answers == "said-2")  # it drew a card
    before, now = fold_view(view[: number - 1]), view[number - 1]
    assert own_verdict_doubt(before, 0, now, DrawBlind()) == ""
    refused = replace(now, events=(CommandRefused(0, "TURN-1", "it isn't your turn"),))
    assert "accept" in own_verdict_doubt(before, 0, refused, DrawBlind())
    assert "ROUTE-1" in own_verdict_doubt(before, 0, now, NOWHERE)
    assert "something else" in own_verdict_doubt(before, 0, replace(now, events=()), DrawBlind())


def test_P6_a_seat_learns_at_once_that_what_it_was_shown_does_not_fit(office: Office) -> None:
    play(office.at)
    view = office.at.ledger.read_view(GAME, 0)
    other = view[4].shown._replace(head=b"\0" * 32)
    answer = seat_visible_answer(GAME, 0, [*view[:4], replace(view[4], shown=other), *view[5:]], 7, None)
    assert not answer["shown_as_committed"]
    assert "entry 5" in answer["verdict"]
    assert seat_visible_answer(GAME, 0, view, 4, None)["shown_as_committed"]
