"""A game's creation: seats, shuffles, hands; or a whole position."""

from __future__ import annotations

from collections import Counter

from schemas.access import Access
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import (
    AccessSet,
    ChoiceLaid,
    DeckKnown,
    DeckLaid,
    DeckRecreated,
    DeckShuffled,
    GameCreated,
    GameForked,
    GameStarted,
    HandDealt,
    HandLaid,
    HandReturned,
    MomentLaid,
    PlayResumed,
    PositionLaid,
    SeatFreed,
    SeatTaken,
    SeedSealed,
    TicketsLaid,
    TicketsShuffled,
)  # fmt: skip
from schemas.field_types import HIDDEN
from services.referee.rules import board as boards
from services.referee.rules.appliers.playing import assign_route
from services.referee.rules.appliers.table import applies
from services.referee.rules.fair_randomness import (
    compute_setup_digest,
    default_setup_digest,
    derive_shuffle_key,
)  # fmt: skip
from services.referee.rules.rulesets import RULESET_VERSIONS
from services.referee.rules.seat_state import SeatState
from services.referee.rules.state import GameState
from services.referee.rules.train_state import TrainSeat, TrainState, Tunnel


@applies(GameCreated)
def game_created(state: GameState, event: GameCreated) -> None:
    rule_options = event.parameters
    state.game = event.game
    if (event.ruleset, event.rules) not in RULESET_VERSIONS:
        raise CorruptDataError(
            f"game {event.game} is played by version {event.rules} of the rules {event.ruleset}"
        )
    state.ruleset = RULESET_VERSIONS[event.ruleset, event.rules]
    state.rule_options = rule_options
    board = _board_of(event)
    if board.digest != event.board_digest:
        raise CorruptDataError(f"game {event.game} was played on another version of the board {event.board}")
    if rule_options.pair_tickets:
        board = boards.with_pair_tickets(board, rule_options.pair_tickets)
    state.own = TrainState(board, rule_options, len(event.seats))
    state.setup_digest = (
        default_setup_digest(state.ruleset, event.board, event.board_digest, len(event.seats))
        if rule_options is state.ruleset.rule_options
        else compute_setup_digest(event)
    )
    state.created_at_ms, state.opened_at_ms, state.play_off = event.created, event.opened, event.play_off
    for plan in event.seats:
        seat_state = SeatState(plan.kind, plan.name or state.name_of(plan.name_commitment), plan.policy)
        seat_state.clock_ms, seat_state.own = rule_options.clock_ms or 0, TrainSeat(rule_options)
        state.seats.append(seat_state)
    state.turn_order = tuple(range(len(event.seats)))


def _board_of(event: GameCreated) -> boards.Board:
    """The board of a game. Raises CorruptDataError: this server can't read it."""
    if event.board_form is not None:
        return boards.build_board(event.board_form)
    try:
        return boards.load_board(event.board)
    except InvalidInputError as error:
        raise CorruptDataError(f"game {event.game} can't be played here: {error}") from None


@applies(AccessSet)
def access_set(state: GameState, event: AccessSet) -> None:
    state.access = Access(event.visible_to, event.spectator_delay, event.by_invitation, event.suggestions)


@applies(SeedSealed)
def seed_sealed(state: GameState, event: SeedSealed) -> None:
    state.commitment, state.seed_was_named, state.seed = event.commitment, event.given, event.seed


@applies(SeatTaken)
def seat_taken(state: GameState, event: SeatTaken) -> None:
    seat_state = state.seats[event.seat]
    seat_state.name, seat_state.policy, seat_state.seat_secret, seat_state.is_seated = (
        event.name or state.name_of(event.name_commitment),
        event.policy,
        event.luck,
        True,
    )
    seat_state.kind = "human" if event.policy is None else "bot"
    seat_state.name_commitment = event.name_commitment
    seat_state.age, seat_state.contribution = event.age, event.contribution


@applies(SeatFreed)
def seat_freed(state: GameState, event: SeatFreed) -> None:
    """Nothing of who sat there stays: neither name nor secret nor contribution, nor how often it was refused."""
    seat_state = state.seats[event.seat]
    seat_state.is_seated, seat_state.kind, seat_state.name = False, "human", ""
    seat_state.policy = seat_state.name_commitment = seat_state.age = None
    seat_state.seat_secret = seat_state.contribution = None
    seat_state.times_freed += 1
    seat_state.freed_at_ms = state.at_ms
    state.refusal_counts.pop(event.seat, None)


@applies(GameStarted)
def game_started(state: GameState, event: GameStarted) -> None:
    state.started = True
    state.turn_order = event.order
    state.refusal_counts.clear()
    if state.seed is not None:  # nobody but the referee has it
        state.shuffle_key = derive_shuffle_key(state)


@applies(DeckShuffled)
def deck_shuffled(state: GameState, event: DeckShuffled) -> None:
    table = state.own
    table.deck[:0] = reversed(event.order)
    table.discards = dict.fromkeys(state.rule_options.cards, 0)
    state.epoch += 1


@applies(DeckRecreated)
def deck_recreated(state: GameState, event: DeckRecreated) -> None:
    table = state.own
    table.deck = list(reversed(event.order))
    table.discards = dict.fromkeys(state.rule_options.cards, 0)
    state.epoch += 1


@applies(TicketsShuffled)
def tickets_shuffled(state: GameState, event: TicketsShuffled) -> None:
    state.own.ticket_decks[event.deck] = list(reversed(event.order))
    state.epoch += 1


@applies(HandDealt)
def hand_dealt(state: GameState, event: HandDealt) -> None:
    hand = state.seats[event.seat].own.hand
    for card in event.cards:
        state.own.deck.pop()
        hand[card] += 1


@applies(HandReturned)
def hand_returned(state: GameState, event: HandReturned) -> None:
    hand = state.seats[event.seat].own.hand
    for card in event.cards:
        hand[card] -= 1
    is_view = not state.shuffle_key  # which shows no card of a deck, though its seat has held these
    table = state.own
    table.deck += [HIDDEN] * len(event.cards) if is_view else reversed(event.cards)
    table.untaken = None


# -- a position in place of a deal -----------------------------------------------------


@applies(PositionLaid)
def position_laid(state: GameState, event: PositionLaid) -> None:
    table = state.own
    table.position_starter = event.turn
    table.board = boards.with_tickets(table.board, event.tickets)
    table.market = list(event.market)
    table.discards = dict.fromkeys(state.rule_options.cards, 0)
    table.discards.update(event.discards.items())
    for route, seat in event.owners.items():
        assign_route(state, route, seat)
    for seat, seat_state in enumerate(state.seats):
        seat_state.own.cars, seat_state.own.points = event.cars[seat], event.points[seat]
        seat_state.own.merchandise = event.merchandise[seat]
    for city, station in event.stations.items():
        table.station_owners[city] = station.seat
        state.seats[station.seat].own.stations[city] = station.neighbour
    for city, seat in event.passengers.items():
        table.passenger_owners[city] = seat
        state.seats[seat].own.passengers_left -= 1
    table.tokens = {city: tuple(stack) for city, stack in event.tokens.items()}


@applies(DeckLaid)
def deck_laid(state: GameState, event: DeckLaid) -> None:
    state.own.deck = list(reversed(event.order))


@applies(TicketsLaid)
def tickets_laid(state: GameState, event: TicketsLaid) -> None:
    state.own.ticket_decks[event.deck] = list(reversed(event.order))


@applies(HandLaid)
def hand_laid(state: GameState, event: HandLaid) -> None:
    seat_state = state.seats[event.seat].own
    for card, count in Counter(event.cards).items():
        seat_state.hand[card] += count
    seat_state.tickets = list(event.tickets)


# -- a fork: more than a position can hold ----------------------------------------------


@applies(GameForked)
def game_forked(state: GameState, event: GameForked) -> None:
    state.fork_origin = event.of, event.at


@applies(MomentLaid)
def moment_laid(state: GameState, event: MomentLaid) -> None:
    """No choice is pending, and no time passes, until the game is started."""
    state.fork_turn_state, state.turn_order = (event.turn, event.awaits), event.order
    table = state.own
    table.tunnel = Tunnel(*event.tunnel) if event.tunnel is not None else None
    table.in_last_turns, table.seats_with_last_turn, table.seats_passed = (
        event.ending,
        set(event.last),
        set(event.passed),
    )
    for seat, seat_state in enumerate(state.seats):
        seat_state.own.start_tickets_chosen, seat_state.exit_reason = event.chosen[seat], event.gone[seat]
        seat_state.clock_ms, seat_state.own.passengers_left = event.clocks[seat], event.passengers[seat]
        for card, count in event.shown[seat].items():
            seat_state.own.hand[card] += count


@applies(ChoiceLaid)
def choice_laid(state: GameState, event: ChoiceLaid) -> None:
    seat_state = state.seats[event.seat].own
    seat_state.offer, seat_state.min_keep = list(event.offer), event.least
    seat_state.requested_mix = (event.mix or {}) if event.named else None


@applies(DeckKnown)
def deck_known(state: GameState, event: DeckKnown) -> None:
    """For a viewer who may know them: the deck has these tickets at these indexes anyway."""
    table = state.own
    deck = table.ticket_decks[event.deck]
    table.ticket_decks[event.deck] = [
        ticket if known_ticket is None else known_ticket
        for known_ticket, ticket in zip(reversed(event.order), deck, strict=True)
    ]


@applies(PlayResumed)
def play_resumed(state: GameState, event: PlayResumed) -> None:
    assert state.fork_turn_state is not None, "a moment was laid"
    state.turn, pending_choices = state.fork_turn_state
    for seat, choice, remaining_ms in pending_choices:
        state.pending_choices[seat] = choice
        state.seats[seat].deadline_ms = None if remaining_ms is None else state.at_ms + remaining_ms
