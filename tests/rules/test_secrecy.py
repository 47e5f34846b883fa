"""What a viewer gets never depends on what it may not know (P5): two states that differ in nothing
else, the same command on both, and the viewer can't tell the one from the other, byte by byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.commands import Command, CommandEnvelope, CreateGame, Leave, Pass, SeatPlan, StartGame
from schemas.events import CommandRefused, Event, GameEnded
from schemas.field_types import Seat
from schemas.stored.codec import Proofs, pack_private_part, pack_public
from schemas.trains.commands import BuildStation, ClaimRoute, KeepTickets, MovePassenger, PayTunnel
from schemas.trains.events import (
    CardDrawn,
    CardsGiven,
    MarketFilled,
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TunnelRevealed,
)
from services.referee.games import (
    RULESETS,
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    legal,
    redact_for,
    split_by_visibility,
)
from services.referee.games.fair_randomness import derive_contribution
from services.referee.games.shuffle import commit_to_seed, derive_seat_secret
from services.referee.games.state import SeatState
from tests.long_runs import long_after
from tests.rules.given import CREATED_AT_MS, SEED, without_root
from tests.rules.random_commands import command_pool
from tests.rules.random_games import RANDOM_GAMES, RandomGame
from tests.rules.test_properties import EVERY_RULESET, EVERY_TRAIN_RULESET, REPEATABLE

# commands whose outcome depends on the sender's hand
HAND_DECIDES: Final = (ClaimRoute, BuildStation, PayTunnel, MovePassenger, Pass)


# -- what a viewer gets ----------------------------------------------------------------


def shown_to(
    state: GameState, envelope: CommandEnvelope, now: int, viewer: Seat | None
) -> tuple[object, tuple[Event, ...]]:
    """All that a viewer gets of an envelope's decision, and the events themselves."""
    branch = state.copy()
    try:
        events = decide_envelope(branch, envelope, now, SEED)
    except UnloggedRejectionError as refusal:
        return (refusal.rule, refusal.reason if envelope.seat in (None, viewer) else ""), ()
    split = split_by_visibility([without_root(event) for event in events])
    is_sender = viewer is not None and viewer == envelope.seat
    part = None
    if viewer is not None and (viewer in split.private or is_sender):
        part = pack_private_part(0, envelope.id if is_sender else None, split.private.get(viewer, {}))
    legal_commands = legal(branch, viewer) if viewer is not None else []
    return (
        pack_public(branch.at_ms, split, Proofs(b"")),
        part,
        legal_commands,
        branch.next_deadline(),
    ), events


def assert_indistinguishable(
    state: GameState, viewer: Seat | None, envelope: CommandEnvelope, now: int, rng: Random
) -> bool:
    """Fail if the viewer sees a difference. Returns whether the twin state really differs."""
    first, events = shown_to(state, envelope, now, viewer)
    other = twin_state(state, viewer, envelope, events, rng)
    if viewer is not None:
        assert legal(other, viewer) == legal(state, viewer)
    if viewer != envelope.seat:
        envelope = replace(envelope, command=similar_command(state, envelope, events, rng))
    second, _ = shown_to(other, envelope, now, viewer)
    assert second == first, (viewer, envelope)
    return hidden_parts(other) != hidden_parts(state)


def hidden_parts(state: GameState) -> object:
    hands = [
        (
            seat_state.own.hand,
            seat_state.own.tickets,
            seat_state.own.offer,
            seat_state.own.requested_mix,
            seat_state.seat_secret,
        )
        for seat_state in state.seats
    ]
    return state.own.deck, state.own.ticket_decks, hands


# -- a twin state that looks the same ------------------------------------------------------


def twin_state(
    state: GameState, viewer: Seat | None, envelope: CommandEnvelope, events: Sequence[Event], rng: Random
) -> GameState:
    """A state with other hidden cards and tickets, except for those that these events show to the viewer."""
    other = state.copy()
    own_event_types = (CardDrawn, CardsGiven, TicketsOffered)
    opened = {type(e) for e in events if not isinstance(e, own_event_types) or e.seat == viewer}
    others = [seat_state for seat, seat_state in enumerate(other.seats) if seat != viewer]
    keeps_deck = not opened.isdisjoint((MarketFilled, TunnelRevealed, CardDrawn, CardsGiven))
    keeps_tickets = not opened.isdisjoint((GameEnded, TicketsOffered))
    sender_hidden = envelope.seat if isinstance(envelope.command, HAND_DECIDES) else None
    holding = [
        seat_state
        for seat_state in others
        if sender_hidden is None or seat_state is not other.seats[sender_hidden]
    ]
    _shuffle_hands(other, holding, keeps_deck, rng)
    if not keeps_tickets:
        _shuffle_tickets(other, others, rng)
    if not (keeps_deck or keeps_tickets):
        other.seed = rng.randbytes(32).hex()
    for seat_state in others:
        seat_state.seat_secret = seat_state.seat_secret and rng.randbytes(32).hex()
        if seat_state.own.requested_mix and not any(isinstance(event, TicketsOffered) for event in events):
            short = rng.randint(0, state.rule_options.start_named)
            seat_state.own.requested_mix = {"short": short, "long": state.rule_options.start_named - short}
    return other


def _shuffle_hands(state: GameState, seat_states: Sequence[SeatState], keeps_deck: bool, rng: Random) -> None:
    """Deal each the same number of cards again, from all hidden cards."""
    held = [seat_state.own.hand for seat_state in seat_states]
    cards = [card for hand in held for card, count in hand.items() for _ in range(count)]
    if not keeps_deck:
        cards += state.own.deck
    rng.shuffle(cards)
    for hand in held:
        count = sum(hand.values())
        dealt, cards = Counter(cards[:count]), cards[count:]
        hand.update({card: dealt[card] for card in hand})
    if not keeps_deck:
        state.own.deck = cards


def _shuffle_tickets(state: GameState, seat_states: Sequence[SeatState], rng: Random) -> None:
    """Shuffle all tickets of each deck among themselves: a ticket's deck is public."""
    rows = [row for seat_state in seat_states for row in (seat_state.own.tickets, seat_state.own.offer)]
    rows += state.own.ticket_decks.values()
    for deck in state.own.ticket_decks:
        where = [
            (row, n)
            for row in rows
            for n, t in enumerate(row)
            if state.own.board.tickets[str(t)].deck == deck
        ]
        tickets = [row[n] for row, n in where]
        rng.shuffle(tickets)
        for (row, n), ticket in zip(where, tickets, strict=True):
            row[n] = ticket


def similar_command(
    state: GameState, envelope: CommandEnvelope, events: Sequence[Event], rng: Random
) -> Command:
    """Another command that looks the same to all but its sender."""
    seat, command = envelope.seat, envelope.command
    if seat is None or not events or any(isinstance(event, TicketsOffered) for event in events):
        return command
    if isinstance(events[0], CommandRefused) and not state.rule_options.strict:
        return ClaimRoute("nowhere-b", {"blue": rng.randrange(1, 5)})
    if isinstance(events[0], TicketsNamed | TicketsKept) and not isinstance(command, Leave):
        return rng.choice(
            [c for c in legal(state, seat) if decks_kept(state, seat, c) == decks_kept(state, seat, command)]
        )
    return command


def decks_kept(state: GameState, seat: Seat, command: Command) -> list[str] | None:
    """The decks of the tickets that a command keeps; None for other commands."""
    if not isinstance(command, KeepTickets):
        return None
    offer = state.seats[seat].own.offer
    return sorted(state.own.board.tickets[str(offer[n])].deck for n in command.keep)


# -- what holds --------------------------------------------------------------------------


@pytest.mark.parametrize("examples", long_after(1, (1, 3)))
@EVERY_TRAIN_RULESET  # tests/secrecy/test_gate.py has every game
def test_no_viewer_can_infer_what_it_may_not_know(rules: str, examples: int) -> None:
    other_tables = 0

    @settings(REPEATABLE, max_examples=examples)
    @given(RANDOM_GAMES[rules], st.integers(0, 2**32))
    def holds(play: RandomGame, chance: int) -> None:
        nonlocal other_tables
        rng = Random(chance)
        for number in range(400):
            if play.state.result:
                return
            play.now_ms += rng.randrange(2000)
            next_command = play.next_command()
            tried = (rng.randrange(play.seats), rng.choice([Leave(), *command_pool(rng, play.state)]))
            for seat, command in (next_command, tried):
                viewer = rng.choice([None, *range(play.seats)])
                envelope = CommandEnvelope(f"c{number}", "random", seat, command)
                other_tables += assert_indistinguishable(play.state, viewer, envelope, play.now_ms, rng)
            play.process(*next_command)

    holds()
    assert other_tables > 100 * examples


@EVERY_RULESET
def test_of_a_seed_all_see_its_hash_and_a_seat_its_own_secret(rules: str) -> None:
    plans = tuple(SeatPlan("bot", "random") for _ in range(3))
    envelope = CommandEnvelope("create", "deal", None, CreateGame(plans, rules))
    for viewer in (None, 0, 1, 2):
        shown = []
        for seed in ("a5" * 32, "5a" * 32):
            events = [
                redact_for(viewer, event)
                for event in decide_envelope(GameState(), envelope, CREATED_AT_MS, seed)
            ]
            masked = str(events).replace(commit_to_seed(seed), "its hash")
            for seat in range(3):
                masked = masked.replace(derive_contribution(seed, seat), "the contribution of the server")
            if viewer is not None:
                masked = masked.replace(derive_seat_secret(seed, viewer), "its secret")
            shown.append(masked)
        assert shown[0] == shown[1]


@EVERY_RULESET
def test_a_spectator_learns_nothing_of_the_deal(rules: str) -> None:
    plans = tuple(SeatPlan("bot", "random") for _ in range(3))
    options = {"market": 0} if getattr(RULESETS[rules].rule_options, "market", 0) else {}
    create = CreateGame(plans, rules, seed="deal", options=options)
    state, seen = GameState(), []
    decide_envelope(state, CommandEnvelope("create", "deal", None, create), CREATED_AT_MS, SEED)
    for chance in range(5):
        state.seed = Random(chance).randbytes(32).hex()
        seen.append(shown_to(state, CommandEnvelope("start", "deal", None, StartGame()), CREATED_AT_MS, None))
    assert all(entry == seen[0][0] for entry, _ in seen)
    assert seen[0][1] != seen[1][1]
