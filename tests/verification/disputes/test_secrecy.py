"""P5 for disputes: while a game runs, two games that look alike to a seat give it the same answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from schemas.events import CommandRefused
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.trains.commands import DrawBlind
from schemas.web.disputes import parse_dispute_id, unpack_answer
from services.archive import GameFile
from services.referee.games import fair_randomness
from services.referee.games.shuffle import shuffled
from services.verification.dispute_answers import fold_view, own_verdict_doubt, seat_visible_answer
from services.verification.game_repository import ReconstructedGame
from services.verification.replay import reseal_log
from tests.referee.running_referee import GAME
from tests.verification.audit.given import golden
from tests.verification.disputes.conftest import WebServer, open_web_server
from tests.verification.disputes.games import NOWHERE, end, play

LENGTH: Final = 14
ROOT: Final = re.compile(rb'"root":"[0-9a-f]{64}"')  # a hash with salts in it: any two games differ there
SINCE: Final = re.compile(rb'"since":"[^"]*"')
NEVER_DRAWN: Final = 20  # nor any place below it
SWAPPED: Final = {
    "a card of its hand": (0, 5),
    "a card that it draws": (0, 15),
    "a ticket that it is offered": (1, 4),
}  # a shuffle, and the place in it, from the top, of something that only seat 1 sees


def rigged(epoch_: int, place: int) -> Callable[[Sequence[Any], str, int], tuple[Any, ...]]:
    """A shuffle that swaps the card or ticket at this place with one that is never drawn."""

    def shuffle(row: Sequence[Any], key: str, epoch: int) -> tuple[Any, ...]:
        order = [*shuffled(row, key, epoch)]
        if epoch == epoch_:
            far = next(n for n in range(NEVER_DRAWN, len(order)) if order[n] != order[place])
            order[place], order[far] = order[far], order[place]
        return tuple(order)

    return shuffle


def everything_sent(web: WebServer) -> list[tuple[bytes, str]]:
    """Seat 0 disputes every entry: the bodies and headers of all replies that it gets."""
    ids = [web.raised(0, number, f"key-{number}") for number in range(1, LENGTH + 1)]
    waiting = [web.get(0, f"/{id_}") for id_ in ids]
    web.server.work()
    answered = [web.get(0, f"/{id_}") for id_ in (*ids, "none")]
    replies = (*waiting, *answered, web.get(0, ""))
    for reply in replies:
        assert reply.headers.pop("x-request-id"), "each request has an id by chance"
    return [(ROOT.sub(b"", SINCE.sub(b"", r.content)), str(sorted(r.headers.items()))) for r in replies]


@pytest.mark.long
@pytest.mark.pure_python
@pytest.mark.parametrize("swapped", SWAPPED)
def test_P5_answers_do_not_depend_on_what_another_seat_holds_even_if_the_deal_was_rigged(
    engine_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    swapped: str,
) -> None:
    with open_web_server(engine_url, tmp_path / "honest") as web:
        assert play(web.server) == LENGTH
        honest, log = everything_sent(web), web.server.ledger.read_entries(GAME)
        found = web.server.ledger.disputes().read_findings(parse_dispute_id(web.raised(0, 1, "key-1")))
        assert unpack_answer(found)["ok"]
    assert "as it should be" not in capsys.readouterr().out

    with open_web_server(engine_url, tmp_path / "rigged") as web:
        with monkeypatch.context() as cheating:
            cheating.setattr(fair_randomness, "shuffled", rigged(*SWAPPED[swapped]))
            play(web.server)
        assert web.server.ledger.read_entries(GAME) != log
        capsys.readouterr()

        assert everything_sent(web) == honest

        id_ = web.raised(0, 1, "key-1")
        [first, *_] = (
            wrong := unpack_answer(web.server.ledger.disputes().read_findings(parse_dispute_id(id_)))
        )["findings"]
        assert not wrong["ok"]
        assert first["kind"] == "deal"
        assert "disputed game audited, findings" in capsys.readouterr().out

        end(web.server)
        web.server.work()
        whole = web.read_dispute(id_)["answer"]
        assert not whole["ok"]
        assert first in whole["findings"]


def view_of(game: str, viewer: Seat) -> tuple[list[ViewEntry], list[Any]]:
    steps = [*reseal_log(game, golden(game))]
    file = GameFile(game, len(steps), b"", b"", b"", b"", golden(game))
    return ReconstructedGame(file, steps).view(viewer), [step.entry for step in steps]


@pytest.mark.parametrize(
    "game", ["usa-mischief", "europe-mischief", "marklin-forked-mixes", "trains-requests"]
)
def test_for_each_of_its_own_commands_a_seat_is_shown_that_the_rules_give_this_verdict(game: str) -> None:
    for seat in (0, 1):
        view, entries = view_of(game, seat)
        own = [number for number, entry in enumerate(view, 1) if entry.answers]
        assert own
        for number in own[:: max(1, len(own) // 12)]:
            answer = seat_visible_answer(game, seat, view, number, entries[number - 1].command)
            assert (answer["as_the_rules_say"], answer["shown_as_committed"]) == (True, True)
            assert set(answer["move"]["seen"]) == {str(seat)}


def test_for_another_seat_s_command_a_seat_gets_only_what_it_saw(web: WebServer) -> None:
    play(web.server)
    refused = web.raised(0, 8)  # seat 1 wasn't in turn
    web.server.work()
    answer = web.read_dispute(refused)["answer"]
    assert answer["as_the_rules_say"] is None
    assert set(answer["move"]) == {"number", "at", "seen"}
    assert answer["move"]["seen"]["0"]["events"] == []


def test_a_refusal_that_the_rules_do_not_give_is_answered_at_once_if_the_seat_could_see_it(
    web: WebServer,
) -> None:
    play(web.server)
    view = web.server.ledger.read_view(GAME, 0)
    number = next(e.number for e in view if e.answers == "sent-2")  # it drew a card
    before, entry = fold_view(view[: number - 1]), view[number - 1]
    assert own_verdict_doubt(before, 0, entry, DrawBlind()) == ""
    refused = replace(entry, events=(CommandRefused(0, "TURN-1", "it isn't your turn"),))
    assert "accept" in own_verdict_doubt(before, 0, refused, DrawBlind())
    assert "ROUTE-1" in own_verdict_doubt(before, 0, entry, NOWHERE)
    assert "something else" in own_verdict_doubt(before, 0, replace(entry, events=()), DrawBlind())


def test_P6_a_seat_is_shown_at_once_that_its_view_does_not_fit_the_chain(web: WebServer) -> None:
    play(web.server)
    view = web.server.ledger.read_view(GAME, 0)
    other = view[4].shown._replace(head=b"\0" * 32)
    answer = seat_visible_answer(GAME, 0, [*view[:4], replace(view[4], shown=other), *view[5:]], 7, None)
    assert not answer["shown_as_committed"]
    assert "entry 5" in answer["verdict"]
    assert seat_visible_answer(GAME, 0, view, 4, None)["shown_as_committed"]
