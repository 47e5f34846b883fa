"""The gate is no gate if anything passes: each of these leaks, planted, is caught by it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgpack
import pytest

from schemas.codec import Faces, event_row
from schemas.commands import ClaimRoute
from schemas.events import CardDrawn, CommandRefused, Event, GameStarted, HandDealt, TicketsReturned
from schemas.field_types import LOCOMOTIVE, Seat
from schemas.refusals import Refused
from services.bots.policies import POLICIES
from services.referee import command_processor, scheduling
from services.referee.rules import RULESETS, NotKept, Table, legal, views
from services.referee.rules.moves import cards, tickets, withdrawal
from services.referee.rules.proof import sealing
from services.referee.rules.proof.sealing import Sealed
from services.referee.rules.ruleset import Facts
from tests.secrecy import gate
from tests.secrecy.deals import watched_deals
from tests.secrecy.gate import Leak, watched

Patch = pytest.MonkeyPatch
DECIDE: Any = sys.modules["services.referee.rules.decide"]  # the package's own `decide` is a function
ENOUGH = 400  # positions, in which every one of these shows


def caught(rules: str) -> str:
    with pytest.raises(Leak) as leak:
        watched(rules, ENOUGH)
    return str(leak.value)


def shown_to_all(monkeypatch: Patch, kind: type[Event], turned: Callable[[Any], Event | None]) -> None:
    hiding: Mapping[type[Event], Any] = {**views.HIDING, kind: turned}
    monkeypatch.setattr(views, "HIDING", hiding)


# -- what is in an entry ------------------------------------------------------------------------


def test_a_card_drawn_face_up_by_mistake_is_caught(monkeypatch: Patch) -> None:
    shown_to_all(monkeypatch, CardDrawn, lambda event: event)
    assert "can tell" in caught("usa")


def test_a_refusal_that_others_read_is_caught(monkeypatch: Patch) -> None:
    shown_to_all(monkeypatch, CommandRefused, lambda event: event)
    assert "can tell" in caught("usa")


def test_the_order_of_rows_that_follows_names_nobody_may_know_is_caught(monkeypatch: Patch) -> None:
    def give_back(table: Table, seat: Seat) -> Facts:
        told: Any = tickets_given_back(table, seat)
        yield from sorted(told, key=lambda event: str(event.tickets[0])[-1])

    tickets_given_back = tickets.give_back
    for module in (tickets, withdrawal):
        monkeypatch.setattr(module, "give_back", give_back)
    assert TicketsReturned.type
    assert "can tell" in caught("marklin")


def sealed_otherwise(monkeypatch: Patch, change: Callable[[Table, Sealed], Sealed]) -> None:
    """Entries are written otherwise than they should be."""

    def seal(table: Table, *told: Any) -> Sealed:
        return change(table, sealing.seal(table, *told))

    monkeypatch.setattr(command_processor, "seal", seal)


def repacked(data: bytes, change: Callable[[list[Any]], None]) -> bytes:
    value = msgpack.unpackb(data, strict_map_key=False)
    change(value)
    packed: bytes = msgpack.packb(value)
    return packed


def test_publishing_which_routes_the_seat_to_act_can_afford_is_caught(monkeypatch: Patch) -> None:
    """Known from a public system: its clients were told what to highlight."""

    def told_to_all(table: Table, sealed: Sealed) -> Sealed:
        may = [command for seat in table.awaits for command in legal(table, seat)]
        afford = sorted({command.route for command in may if isinstance(command, ClaimRoute)})
        return sealed._replace(public=repacked(sealed.public, lambda entry: entry[2].append([99, afford])))

    sealed_otherwise(monkeypatch, told_to_all)
    assert "can tell" in caught("usa")


def test_sending_the_unfiltered_starting_state_is_caught(monkeypatch: Patch) -> None:
    """Known from a public system: everybody was sent the table as the server had dealt it."""

    def faces(events: Sequence[Event]) -> Faces:
        if any(isinstance(event, GameStarted) for event in events):
            return Faces(tuple(event_row(event) for event in events), {}, {})
        return views.faces(events)

    monkeypatch.setattr(sealing, "faces", faces)
    for rules in RULESETS:
        with pytest.raises(Leak):
            watched_deals(rules, 3)


def test_one_hand_in_the_starting_state_is_caught(monkeypatch: Patch) -> None:
    shown_to_all(monkeypatch, HandDealt, lambda event: event)
    with pytest.raises(Leak):
        watched_deals("usa", 3)


def test_a_part_for_the_wrong_seat_is_caught(monkeypatch: Patch) -> None:
    def to_the_next(table: Table, sealed: Sealed) -> Sealed:
        seats = len(table.places)
        return sealed._replace(parts=[((seat + 1) % seats, part) for seat, part in sealed.parts])

    sealed_otherwise(monkeypatch, to_the_next)
    assert "can tell" in caught("usa")


def test_one_commitment_more_for_a_good_card_is_caught(monkeypatch: Patch) -> None:
    """Nothing but a length tells."""

    def longer(table: Table, sealed: Sealed) -> Sealed:
        if table.deck[-1:] != [LOCOMOTIVE]:
            return sealed
        return sealed._replace(public=repacked(sealed.public, add_commitment))

    def add_commitment(entry: list[Any]) -> None:
        entry[3] += bytes(16)

    sealed_otherwise(monkeypatch, longer)
    assert "can tell" in caught("europe")


def test_a_longer_part_for_a_good_card_is_caught(monkeypatch: Patch) -> None:
    def longer(table: Table, sealed: Sealed) -> Sealed:
        if table.deck[-1:] != [LOCOMOTIVE]:
            return sealed
        return sealed._replace(parts=[(seat, repacked(part, add_salt)) for seat, part in sealed.parts])

    def add_salt(part: list[Any]) -> None:
        part[4:] = [bytes(16)]

    sealed_otherwise(monkeypatch, longer)
    assert "can tell" in caught("usa")


# -- what is said to one seat ---------------------------------------------------------------------


def test_a_refusal_that_names_anothers_cards_is_caught(monkeypatch: Patch) -> None:
    def facts(table: Table, seat: Seat | None, command: Any) -> Facts:
        try:
            yield from judged(table, seat, command)
        except Refused as no:
            if no.rule != "TURN-1" or table.turn is None:
                raise
            reds = table.places[table.turn].hand["red"]
            raise Refused("TURN-1", f"it isn't your turn, but that of who holds {reds} red") from None

    judged = DECIDE.facts
    monkeypatch.setattr(DECIDE, "facts", facts)
    assert "can tell" in caught("usa")


def test_a_dismissal_that_names_the_next_card_is_caught(monkeypatch: Patch) -> None:
    def require_accepted(branch: Table, letter: Any, now: int) -> None:
        try:
            judged(branch, letter, now)
        except NotKept as no:
            raise NotKept(no.rule, f"{no.why}: the next card is {branch.deck[-1:]}") from None

    judged = DECIDE._require_accepted
    monkeypatch.setattr(DECIDE, "_require_accepted", require_accepted)
    assert "RATE-1" in caught("usa")


# -- what a seat may do, and when -------------------------------------------------------------------


def test_legal_moves_that_follow_the_deck_are_caught(monkeypatch: Patch) -> None:
    def offers(table: Table, seat: Seat) -> Any:
        return () if table.deck[-1:] == [LOCOMOTIVE] else cards.blind_offers(table, seat)

    draw = cards.DRAW_BLIND._replace(offers=offers)
    usa = RULESETS["usa"]
    moves = {
        choice: tuple(draw if move is cards.DRAW_BLIND else move for move in row)
        for choice, row in usa.moves.items()
    }
    leaky = replace(usa, moves=moves)
    monkeypatch.setattr(gate, "legal", lambda table, seat: legal(with_rules(table, leaky), seat))
    assert "may do something else" in caught("usa")


def with_rules(table: Table, rules: Any) -> Table:
    table = table.branch()
    table.rules = rules
    return table


def test_an_hour_that_follows_a_hand_is_caught(monkeypatch: Patch) -> None:
    def due_at(table: Table) -> int | None:
        due = scheduling.due_at(table)
        return due and due + sum(table.places[seat].hand["blue"] for seat in table.awaits)

    monkeypatch.setattr(command_processor, "due_at", due_at)
    assert "deadline" in caught("usa")


def test_notes_to_bots_that_follow_a_hand_are_caught(monkeypatch: Patch) -> None:
    def calls(table: Table, number: int) -> Any:
        return [turn for turn in scheduling.calls(table, number) if table.places[turn.seat].hand["green"] < 2]

    monkeypatch.setattr(command_processor, "calls", calls)
    assert "can tell" in caught("usa")


def test_a_bot_that_peeks_is_caught(monkeypatch: Patch) -> None:
    def peeks(table: Table, seat: Seat, commands: Any, dice: Any) -> Any:
        return commands[0] if table.deck[-1:] == [LOCOMOTIVE] else commands[-1]

    for name in POLICIES:
        monkeypatch.setitem(POLICIES, name, peeks)
    assert "the bot of seat" in caught("usa")


def test_an_absent_seat_whose_tickets_are_chosen_by_their_names_is_caught(monkeypatch: Patch) -> None:
    def go_out(table: Table, seat: Seat, why: Any) -> Facts:
        place = table.places[seat]
        place.offer.sort(key=str)
        yield from goes_out(table, seat, why)

    goes_out = withdrawal.go_out
    monkeypatch.setattr(withdrawal, "go_out", go_out)
    monkeypatch.setattr(DECIDE, "go_out", go_out)
    assert "can tell" in caught("marklin")
