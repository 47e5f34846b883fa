"""Leaks planted on purpose: the gate must catch every one of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgpack
import pytest

from schemas.events import CommandRefused, Event, GameStarted, HandDealt
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.stored.rows import VisibilitySplit, event_to_row
from schemas.trains.commands import ClaimRoute
from schemas.trains.events import CardDrawn, TicketsReturned
from schemas.trains.field_types import LOCOMOTIVE
from services.bots.policies import POLICIES
from services.ledger import AppendRequest
from services.referee import command_processor
from services.referee.decision_building import Decision, build_decision
from services.referee.fork_expansion import PendingCommand
from services.referee.game_cache import CachedGame
from services.referee.games import RULESETS, GameState, UnloggedRejectionError, legal, views
from services.referee.games.found_games import RULESET_VERSIONS
from services.referee.games.proof import sealing
from services.referee.games.state import EventStream
from services.referee.games.trains.moves import cards, tickets
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import own_names
from tests.secrecy import gate
from tests.secrecy.deals import check_deals
from tests.secrecy.gate import LeakError, run_gate

Patch = pytest.MonkeyPatch
DECIDE: Any = sys.modules["services.referee.games.decide"]  # the package exports a function of this name
ENOUGH = 400  # positions, within which each of these leaks shows


def caught(rules: str, first_seed: int = 0) -> str:
    """The message of the LeakError that the gate raises for games of this ruleset from this seed on."""
    with pytest.raises(LeakError) as leak:
        run_gate(rules, ENOUGH, first_seed)
    return str(leak.value)


def declare_public(monkeypatch: Patch, kind: type[Event]) -> None:
    """Declare the event public, as if by mistake."""
    monkeypatch.setitem(views.REDACTORS, kind, None)


# -- the contents of an entry ------------------------------------------------------------------------


@pytest.mark.pure_python
def test_a_card_drawn_face_up_by_mistake_is_caught(monkeypatch: Patch) -> None:
    declare_public(monkeypatch, CardDrawn)
    assert "can distinguish" in caught("usa")


@pytest.mark.pure_python
def test_a_refusal_that_others_read_is_caught(monkeypatch: Patch) -> None:
    declare_public(monkeypatch, CommandRefused)
    assert "can distinguish" in caught("usa")


@pytest.mark.pure_python
def test_rows_in_an_order_that_follows_hidden_names_are_caught(monkeypatch: Patch) -> None:
    def leaky_return(state: GameState, seat: Seat) -> EventStream:
        events: Any = return_tickets(state, seat)
        yield from sorted(events, key=lambda event: str(event.tickets[0])[-1])

    return_tickets = tickets.return_tickets
    monkeypatch.setattr(tickets, "return_tickets", leaky_return)
    assert TicketsReturned.type
    assert "can distinguish" in caught("marklin", first_seed=2)


def build_with(monkeypatch: Patch, change: Callable[[GameState, AppendRequest], AppendRequest]) -> None:
    """Build decisions with this change to what they append, which plants the leak."""

    def build(command: PendingCommand, cached_game: CachedGame, *args: Any) -> Decision:
        decision = build_decision(command, cached_game, *args)
        assert isinstance(decision.request, AppendRequest)
        return decision._replace(request=change(cached_game.state, decision.request))

    monkeypatch.setattr(command_processor, "build_decision", build)


def repacked(data: bytes, change: Callable[[list[Any]], None]) -> bytes:
    value = msgpack.unpackb(data, strict_map_key=False)
    change(value)
    packed: bytes = msgpack.packb(value)
    return packed


def test_publishing_which_routes_the_seat_to_act_can_afford_is_caught(monkeypatch: Patch) -> None:
    """Known from a public system, whose clients were sent what to highlight."""

    def publish_affordable(state: GameState, request: AppendRequest) -> AppendRequest:
        legal_commands = [command for seat in state.pending_choices for command in legal(state, seat)]
        afford = sorted({command.route for command in legal_commands if isinstance(command, ClaimRoute)})
        return request._replace(public=repacked(request.public, lambda entry: entry[2].append([99, afford])))

    build_with(monkeypatch, publish_affordable)
    assert "can distinguish" in caught("usa")


@pytest.mark.pure_python
def test_sending_the_unfiltered_starting_state_is_caught(monkeypatch: Patch) -> None:
    """Known from a public system, which sent every client the state as the server had dealt it."""

    def split(events: Sequence[Event]) -> VisibilitySplit:
        if any(isinstance(event, GameStarted) for event in events):
            return VisibilitySplit(tuple(event_to_row(event) for event in events), {}, {})
        return views.split_by_visibility(events)

    monkeypatch.setattr(sealing, "split_by_visibility", split)
    for rules in RULESETS:
        with pytest.raises(LeakError):
            check_deals(rules, 3)


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.pure_python
def test_one_hand_in_the_starting_state_is_caught(monkeypatch: Patch, rules: str) -> None:
    declare_public(monkeypatch, HandDealt)
    with pytest.raises(LeakError):
        check_deals(rules, 3)


def test_a_part_for_the_wrong_seat_is_caught(monkeypatch: Patch) -> None:
    def to_the_next(state: GameState, request: AppendRequest) -> AppendRequest:
        seats = len(state.seats)
        return request._replace(
            private_parts=[((seat + 1) % seats, part) for seat, part in request.private_parts]
        )

    build_with(monkeypatch, to_the_next)
    assert "can distinguish" in caught("usa")


def test_one_commitment_more_for_a_good_card_is_caught(monkeypatch: Patch) -> None:
    """Only a length differs."""

    def longer(state: GameState, request: AppendRequest) -> AppendRequest:
        if state.own.deck[-1:] != [LOCOMOTIVE]:
            return request
        return request._replace(public=repacked(request.public, add_commitment))

    def add_commitment(entry: list[Any]) -> None:
        entry[3] += bytes(16)

    build_with(monkeypatch, longer)
    assert "can distinguish" in caught("europe")


def add_salt(part: list[Any]) -> None:
    part[4:] = [bytes(16)]


def test_a_longer_part_for_a_good_card_is_caught(monkeypatch: Patch) -> None:
    def longer(state: GameState, request: AppendRequest) -> AppendRequest:
        if state.own.deck[-1:] != [LOCOMOTIVE]:
            return request
        return request._replace(
            private_parts=[(seat, repacked(part, add_salt)) for seat, part in request.private_parts]
        )

    build_with(monkeypatch, longer)
    assert "can distinguish" in caught("usa")


# -- what one seat is sent -------------------------------------------------------------------------


@pytest.mark.pure_python
def test_a_refusal_that_names_anothers_cards_is_caught(monkeypatch: Patch) -> None:
    def leaky_events(state: GameState, seat: Seat | None, command: Any) -> EventStream:
        try:
            yield from judge(state, seat, command)
        except CommandRefusedError as refusal:
            if refusal.rule != "TURN-1" or state.turn is None:
                raise
            reds = state.seats[state.turn].own.hand["red"]
            raise CommandRefusedError(
                "TURN-1", f"it isn't your turn, but the turn of the seat with {reds} red"
            ) from None

    judge = DECIDE.decide_events
    monkeypatch.setattr(DECIDE, "decide_events", leaky_events)
    assert "can distinguish" in caught("usa")


@pytest.mark.pure_python
def test_an_unlogged_rejection_that_names_the_next_card_is_caught(monkeypatch: Patch) -> None:
    def require_accepted(branch: GameState, envelope: Any, now: int) -> None:
        try:
            judge(branch, envelope, now)
        except UnloggedRejectionError as refusal:
            raise UnloggedRejectionError(
                refusal.rule, f"{refusal.reason}: the next card is {branch.own.deck[-1:]}"
            ) from None

    judge = DECIDE._require_accepted
    monkeypatch.setattr(DECIDE, "_require_accepted", require_accepted)
    assert "RATE-1" in caught("usa")


# -- what a seat may do, and when -------------------------------------------------------------------


def test_legal_moves_that_follow_the_deck_are_caught(monkeypatch: Patch) -> None:
    def offers(state: GameState, seat: Seat) -> Any:
        return () if state.own.deck[-1:] == [LOCOMOTIVE] else cards.blind_offers(state, seat)

    draw = replace(cards.DRAW_BLIND, offers=offers)
    usa = RULESETS["usa"]
    moves = {
        choice: tuple(draw if move is cards.DRAW_BLIND else move for move in row)
        for choice, row in usa.moves.items()
    }
    leaky = replace(usa, moves=moves)
    monkeypatch.setattr(gate, "legal", lambda state, seat: legal(with_rules(state, leaky), seat))
    assert "may do something else" in caught("usa")


def with_rules(state: GameState, rules: Any) -> GameState:
    state = state.copy()
    state.ruleset = rules
    return state


def test_a_deadline_that_follows_a_hand_is_caught(monkeypatch: Patch) -> None:
    def later(state: GameState, request: AppendRequest) -> AppendRequest:
        hands = sum(state.seats[seat].own.hand["blue"] for seat in state.pending_choices)
        return request._replace(deadline_ms=request.deadline_ms and request.deadline_ms + hands)

    build_with(monkeypatch, later)
    assert "deadline" in caught("usa")


def test_bot_tasks_that_follow_a_hand_are_caught(monkeypatch: Patch) -> None:
    def fewer(state: GameState, request: AppendRequest) -> AppendRequest:
        tasks = [task for task in request.tasks if state.seats[task.seat].own.hand["green"] < 2]
        return request._replace(tasks=tasks)

    build_with(monkeypatch, fewer)
    assert "can distinguish" in caught("usa")


def test_a_bot_that_peeks_is_caught(monkeypatch: Patch) -> None:
    def peeking_policy(state: GameState, seat: Seat, commands: Any, rng: Any) -> Any:
        return commands[0] if state.own.deck[-1:] == [LOCOMOTIVE] else commands[-1]

    for name in POLICIES:
        monkeypatch.setitem(POLICIES, name, peeking_policy)
    assert "the bot of seat" in caught("usa")


@pytest.mark.pure_python
def test_an_absent_seat_whose_tickets_are_chosen_by_their_names_is_caught(monkeypatch: Patch) -> None:
    def leaky_withdraw(state: GameState, seat: Seat, why: Any) -> EventStream:
        seat_state = state.seats[seat]
        seat_state.own.offer.sort(key=str)
        yield from settle(state, seat, why)

    marklin = RULESETS["marklin"]
    settle, leaky = marklin.settle, replace(marklin, settle=leaky_withdraw)
    monkeypatch.setitem(RULESETS, "marklin", leaky)
    monkeypatch.setitem(RULESET_VERSIONS, ("marklin", marklin.version), leaky)
    assert "can distinguish" in caught("marklin", first_seed=2)


# -- the same in games that bring nothing for it ----------------------------------------------------

EVERY_OTHER_GAME = pytest.mark.parametrize("rules", [name for name in RULESETS if name not in TRAIN_RULESETS])


def first_hidden(state: GameState, seat: Seat) -> str:
    """A word of what the seat after this one has, which nobody else is shown."""
    own = state.seats[(seat + 1) % len(state.seats)].own
    rows = [getattr(own, name) for name in own_names(own)]
    return next((str(row[0]) for row in rows if isinstance(row, list) and row), "")


@EVERY_OTHER_GAME
@pytest.mark.pure_python
def test_a_refusal_that_names_what_another_seat_has_is_caught(monkeypatch: Patch, rules: str) -> None:
    def leaky_events(state: GameState, seat: Seat | None, command: Any) -> EventStream:
        try:
            yield from judge(state, seat, command)
        except CommandRefusedError as refusal:
            reason = f"{refusal.reason}, unlike {first_hidden(state, seat or 0)}"
            raise CommandRefusedError(refusal.rule, reason) from None

    judge = DECIDE.decide_events
    monkeypatch.setattr(DECIDE, "decide_events", leaky_events)
    assert "can distinguish" in caught(rules)


@EVERY_OTHER_GAME
@pytest.mark.pure_python
def test_a_refusal_that_all_read_is_caught_in_any_game(monkeypatch: Patch, rules: str) -> None:
    declare_public(monkeypatch, CommandRefused)
    assert "can distinguish" in caught(rules)


@EVERY_OTHER_GAME
def test_legal_moves_that_follow_what_another_seat_has_are_caught(monkeypatch: Patch, rules: str) -> None:
    def leaky_legal(state: GameState, seat: Seat) -> Any:
        commands = legal(state, seat)
        return commands[::-1] if first_hidden(state, seat) < "d" else commands

    monkeypatch.setattr(gate, "legal", leaky_legal)
    assert "may do something else" in caught(rules)


@EVERY_OTHER_GAME
def test_a_longer_part_for_what_another_seat_has_is_caught(monkeypatch: Patch, rules: str) -> None:
    def longer(state: GameState, request: AppendRequest) -> AppendRequest:
        parts = [
            (seat, part if first_hidden(state, seat) < "d" else repacked(part, add_salt))
            for seat, part in request.private_parts
        ]
        return request._replace(private_parts=parts)

    build_with(monkeypatch, longer)
    assert "can distinguish" in caught(rules)
