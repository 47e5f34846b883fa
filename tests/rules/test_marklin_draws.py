"""TICKET-1 and TICKET-3 where a seat names its mix of short and long tickets."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.events import TurnStarted
from schemas.trains.commands import DrawTickets, KeepTickets
from schemas.trains.events import TicketsKept, TicketsOffered, TicketsReturned
from services.text.sentences import command_title
from tests.rules.given import Scene, given
from tests.rules.test_marklin_tickets import MIXES, mix

SHORT = ["berlin:chemnitz", "bremen:kassel", "koblenz:ulm", "koln:schweiz", "hamburg:koln"]
LONG = ["berlin:mainz", "kiel:schweiz", "leipzig:ulm", "emden:freiburg", "berlin:munchen"]


def marklin(short: list[str], long: list[str], **fields: Any) -> Scene:
    return given(2, rules="marklin", ticket_decks={"short": short, "long": long}, tickets=[[], []], **fields)


def test_TICKET_3_the_mix_is_named_before_drawing_four_in_all() -> None:
    scene = marklin(SHORT, LONG)
    assert [c for c in scene.legal(0) if isinstance(c, DrawTickets)] == [DrawTickets(m) for m in MIXES]
    for decks in (None, {}, {"short": 3}, {"short": 3, "long": 2}, {"regular": 4}):
        scene.when(0, DrawTickets(decks)).refused("TICKET-3")
    scene.when(0, mix(1, 3)).then(
        TicketsOffered(0, ("short", "long", "long", "long"), (SHORT[0], *LONG[:3]), 1)
    )


@pytest.mark.parametrize(
    ("short", "long", "supplied"),
    [
        (5, 5, MIXES),
        (1, 5, MIXES[:2]),
        (2, 2, [MIXES[2]]),  # four in all: the one mix that there is
        (0, 5, MIXES[:1]),
        (1, 3, [MIXES[1]]),
        (5, 1, MIXES[3:]),
    ],
)
def test_TICKET_3_with_four_or_more_left_only_a_mix_that_the_decks_can_supply_is_legal(
    short: int, long: int, supplied: list[dict[str, int]]
) -> None:
    scene = marklin(SHORT[:short], LONG[:long])
    assert [c.decks for c in scene.legal(0) if isinstance(c, DrawTickets)] == supplied
    for decks in MIXES:
        if decks not in supplied:
            scene.when(0, DrawTickets(decks)).refused("TICKET-3")
    scene.when(0, DrawTickets(supplied[0]))
    offered = scene.only(TicketsOffered)
    assert len(offered.tickets) == 4


@pytest.mark.parametrize(("short", "long"), [(1, 2), (0, 3), (3, 0), (1, 0), (1, 1)])
def test_TICKET_3_with_fewer_than_four_left_the_seat_gets_all_of_them(short: int, long: int) -> None:
    rest = {deck: count for deck, count in (("short", short), ("long", long)) if count}
    all_that_are_left = TicketsOffered(
        0, ("short",) * short + ("long",) * long, (*SHORT[:short], *LONG[:long]), 1
    )
    assert [c.decks for c in marklin(SHORT[:short], LONG[:long]).legal(0) if isinstance(c, DrawTickets)] == [
        rest
    ]
    for decks in (rest, {"short": short, "long": long}, *MIXES):  # just what is there, or any mix of four
        marklin(SHORT[:short], LONG[:long]).when(0, DrawTickets(decks)).then(all_that_are_left)


def test_TICKET_3_with_fewer_than_four_left_what_is_named_is_still_a_mix() -> None:
    scene = marklin(SHORT[:1], LONG[:2])
    for decks in (None, {}, {"short": 1}, {"short": 3, "long": 2}, {"regular": 3}, {"regular": 4}):
        scene.when(0, DrawTickets(decks)).refused("TICKET-3")


def test_TICKET_1_with_both_decks_empty_there_is_no_draw() -> None:
    scene = marklin([], [])
    assert not any(isinstance(choice, DrawTickets) for choice in scene.legal(0))
    scene.when(0, mix(2, 2)).refused("TICKET-1")


def test_TICKET_1_at_least_one_is_kept_and_the_others_go_to_the_bottom_of_their_own_decks() -> None:
    scene = marklin(SHORT, LONG).when(0, mix(2, 2)).when(0, KeepTickets(())).refused("TICKET-1")
    scene.when(0, KeepTickets((1,))).then(
        TicketsKept(0, (SHORT[1],)),
        TicketsReturned(0, "short", "bottom", (SHORT[0],)),
        TicketsReturned(0, "long", "bottom", (LONG[0], LONG[1])),
        TurnStarted(1),
    )
    assert scene.state.own.ticket_decks["short"][::-1] == [*SHORT[2:], SHORT[0]]
    assert scene.state.own.ticket_decks["long"][::-1] == [*LONG[2:], *LONG[:2]]


@pytest.mark.parametrize("keep", [(4,), (0, 0)])
def test_TICKET_1_only_what_was_offered_is_kept(keep: tuple[int, ...]) -> None:
    marklin(SHORT, LONG).when(0, mix(2, 2), KeepTickets(keep)).refused("TICKET-1")


def test_a_mix_of_tickets_is_named_by_its_decks_alone() -> None:
    state = marklin(SHORT, LONG).state
    assert command_title(state, 0, DrawTickets({"long": 4})) == ("draw tickets", "4 long")
