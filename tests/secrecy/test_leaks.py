"""The gate is no gate if anything passes: each of these leaks, planted, is caught by it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgpack
import pytest

from schemas.commands import ClaimRoute
from schemas.events import CardDrawn, CommandRefused, Event, GameStarted, HandDealt, TicketsReturned
from schemas.field_types import LOCOMOTIVE, Seat
from schemas.refusals import CommandRefusedError
from schemas.rows import VisibilitySplit, event_to_row
from services.bots.policies import POLICIES
from services.referee import command_processor, scheduling
from services.referee.rules import RULESETS, GameState, UnloggedRejectionError, legal, views
from services.referee.rules.moves import cards, tickets, withdrawal
from services.referee.rules.proof import sealing
from services.referee.rules.proof.sealing import SealedEntry
from services.referee.rules.ruleset import EventStream
from tests.secrecy import gate
from tests.secrecy.deals import watched_deals
from tests.secrecy.gate import LeakError, watched

Patch = pytest.MonkeyPatch
DECIDE: Any = sys.modules["services.referee.rules.decide"]  # the package's own `decide` is a function
ENOUGH = 400  # positions, in which every one of these shows


def caught(rules: str) -> str:
    with pytest.raises(LeakError) as leak:
        watched(rules, ENOUGH)
    return str(leak.value)


def shown_to_all(monkeypatch: Patch, kind: type[Event]) -> None:
    """The event is declared public by mistake."""
    redactors = {cls: redactor for cls, redactor in views.REDACTORS.items() if cls is not kind}
    monkeypatch.setattr(views, "REDACTORS", redactors)
    monkeypatch.setattr(views, "PUBLIC_EVENTS", views.PUBLIC_EVENTS | {kind})


# -- what is in an entry ------------------------------------------------------------------------


def test_a_card_drawn_face_up_by_mistake_is_caught(monkeypatch: Patch) -> None:
    shown_to_all(monkeypatch, CardDrawn)
    assert "can tell" in caught("usa")


def test_a_refusal_that_others_read_is_caught(monkeypatch: Patch) -> None:
    shown_to_all(monkeypatch, CommandRefused)
    assert "can tell" in caught("usa")


def test_the_order_of_rows_that_follows_names_nobody_may_know_is_caught(monkeypatch: Patch) -> None:
    def give_back(table: GameState, seat: Seat) -> EventStream:
        told: Any = tickets_given_back(table, seat)
        yield from sorted(told, key=lambda event: str(event.tickets[0])[-1])

    tickets_given_back = tickets.return_tickets
    for module in (tickets, withdrawal):
        monkeypatch.setattr(module, "return_tickets", give_back)
    assert TicketsReturned.type
    assert "can tell" in caught("marklin")


def sealed_otherwise(monkeypatch: Patch, change: Callable[[GameState, SealedEntry], SealedEntry]) -> None:
    """Entries are written otherwise than they should be."""

    def seal(table: GameState, *told: Any) -> SealedEntry:
        return change(table, sealing.seal_entry(table, *told))

    monkeypatch.setattr(command_processor, "seal_entry", seal)


def repacked(data: bytes, change: Callable[[list[Any]], None]) -> bytes:
    value = msgpack.unpackb(data, strict_map_key=False)
    change(value)
    packed: bytes = msgpack.packb(value)
    return packed


def test_publishing_which_routes_the_seat_to_act_can_afford_is_caught(monkeypatch: Patch) -> None:
    """Known from a public system: its clients were sent what to highlight."""

    def told_to_all(table: GameState, sealed: SealedEntry) -> SealedEntry:
        may = [command for seat in table.pending_choices for command in legal(table, seat)]
        afford = sorted({command.route for command in may if isinstance(command, ClaimRoute)})
        return sealed._replace(public=repacked(sealed.public, lambda entry: entry[2].append([99, afford])))

    sealed_otherwise(monkeypatch, told_to_all)
    assert "can tell" in caught("usa")


def test_sending_the_unfiltered_starting_state_is_caught(monkeypatch: Patch) -> None:
    """Known from a public system: everybody was sent the table as the server had dealt it."""

    def faces(events: Sequence[Event]) -> VisibilitySplit:
        if any(isinstance(event, GameStarted) for event in events):
            return VisibilitySplit(tuple(event_to_row(event) for event in events), {}, {})
        return views.split_by_visibility(events)

    monkeypatch.setattr(sealing, "split_by_visibility", faces)
    for rules in RULESETS:
        with pytest.raises(LeakError):
            watched_deals(rules, 3)


def test_one_hand_in_the_starting_state_is_caught(monkeypatch: Patch) -> None:
    shown_to_all(monkeypatch, HandDealt)
    with pytest.raises(LeakError):
        watched_deals("usa", 3)


def test_a_part_for_the_wrong_seat_is_caught(monkeypatch: Patch) -> None:
    def to_the_next(table: GameState, sealed: SealedEntry) -> SealedEntry:
        seats = len(table.seats)
        return sealed._replace(
            private_parts=[((seat + 1) % seats, part) for seat, part in sealed.private_parts]
        )

    sealed_otherwise(monkeypatch, to_the_next)
    assert "can tell" in caught("usa")


def test_one_commitment_more_for_a_good_card_is_caught(monkeypatch: Patch) -> None:
    """Nothing but a length shows."""

    def longer(table: GameState, sealed: SealedEntry) -> SealedEntry:
        if table.deck[-1:] != [LOCOMOTIVE]:
            return sealed
        return sealed._replace(public=repacked(sealed.public, add_commitment))

    def add_commitment(entry: list[Any]) -> None:
        entry[3] += bytes(16)

    sealed_otherwise(monkeypatch, longer)
    assert "can tell" in caught("europe")


def test_a_longer_part_for_a_good_card_is_caught(monkeypatch: Patch) -> None:
    def longer(table: GameState, sealed: SealedEntry) -> SealedEntry:
        if table.deck[-1:] != [LOCOMOTIVE]:
            return sealed
        return sealed._replace(
            private_parts=[(seat, repacked(part, add_salt)) for seat, part in sealed.private_parts]
        )

    def add_salt(part: list[Any]) -> None:
        part[4:] = [bytes(16)]

    sealed_otherwise(monkeypatch, longer)
    assert "can tell" in caught("usa")


# -- what is said to one seat ---------------------------------------------------------------------


def test_a_refusal_that_names_anothers_cards_is_caught(monkeypatch: Patch) -> None:
    def facts(table: GameState, seat: Seat | None, command: Any) -> EventStream:
        try:
            yield from judged(table, seat, command)
        except CommandRefusedError as no:
            if no.rule != "TURN-1" or table.turn is None:
                raise
            reds = table.seats[table.turn].hand["red"]
            raise CommandRefusedError(
                "TURN-1", f"it isn't your turn, but that of who holds {reds} red"
            ) from None

    judged = DECIDE.decide_events
    monkeypatch.setattr(DECIDE, "decide_events", facts)
    assert "can tell" in caught("usa")


def test_a_dismissal_that_names_the_next_card_is_caught(monkeypatch: Patch) -> None:
    def require_accepted(branch: GameState, envelope: Any, now: int) -> None:
        try:
            judged(branch, envelope, now)
        except UnloggedRejectionError as no:
            raise UnloggedRejectionError(
                no.rule, f"{no.reason}: the next card is {branch.deck[-1:]}"
            ) from None

    judged = DECIDE._require_accepted
    monkeypatch.setattr(DECIDE, "_require_accepted", require_accepted)
    assert "RATE-1" in caught("usa")


# -- what a seat may do, and when -------------------------------------------------------------------


def test_legal_moves_that_follow_the_deck_are_caught(monkeypatch: Patch) -> None:
    def offers(table: GameState, seat: Seat) -> Any:
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


def with_rules(table: GameState, rules: Any) -> GameState:
    table = table.copy()
    table.ruleset = rules
    return table


def test_an_hour_that_follows_a_hand_is_caught(monkeypatch: Patch) -> None:
    def due_at(table: GameState) -> int | None:
        due = scheduling.next_wakeup(table)
        return due and due + sum(table.seats[seat].hand["blue"] for seat in table.pending_choices)

    monkeypatch.setattr(command_processor, "next_wakeup", due_at)
    assert "deadline" in caught("usa")


def test_bot_tasks_that_follow_a_hand_are_caught(monkeypatch: Patch) -> None:
    def hinting(table: GameState, number: int) -> Any:
        return [task for task in bot_tasks(table, number) if table.seats[task.seat].hand["green"] < 2]

    bot_tasks = scheduling.bot_tasks
    monkeypatch.setattr(scheduling, "bot_tasks", hinting)
    assert "can tell" in caught("usa")


def test_a_bot_that_peeks_is_caught(monkeypatch: Patch) -> None:
    def peeks(table: GameState, seat: Seat, commands: Any, rng: Any) -> Any:
        return commands[0] if table.deck[-1:] == [LOCOMOTIVE] else commands[-1]

    for name in POLICIES:
        monkeypatch.setitem(POLICIES, name, peeks)
    assert "the bot of seat" in caught("usa")


def test_an_absent_seat_whose_tickets_are_chosen_by_their_names_is_caught(monkeypatch: Patch) -> None:
    def go_out(table: GameState, seat: Seat, why: Any) -> EventStream:
        place = table.seats[seat]
        place.offer.sort(key=str)
        yield from goes_out(table, seat, why)

    goes_out = withdrawal.withdraw_seat
    monkeypatch.setattr(withdrawal, "withdraw_seat", go_out)
    monkeypatch.setattr(DECIDE, "withdraw_seat", go_out)
    assert "can tell" in caught("marklin")
