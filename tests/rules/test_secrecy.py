"""What a viewer gets never depends on what it may not know (P5): two tables that differ in nothing
else, the same command on both, and the viewer can't tell the one from the other, byte by byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.codec import pack_private_part, pack_public
from schemas.commands import (
    BuildStation,
    ClaimRoute,
    Command,
    CommandEnvelope,
    CreateGame,
    KeepTickets,
    Leave,
    MovePassenger,
    Pass,
    PayTunnel,
    SeatPlan,
    StartGame,
)  # fmt: skip
from schemas.events import (
    CardDrawn,
    CardsGiven,
    CommandRefused,
    Event,
    GameEnded,
    MarketFilled,
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TunnelRevealed,
)
from schemas.field_types import Seat
from services.referee.rules import (
    RULESETS,
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    legal,
    redact_for,
    split_by_visibility,
)
from services.referee.rules.fair_randomness import derive_contribution
from services.referee.rules.seat_state import SeatState
from services.referee.rules.shuffle import commit_to_seed, derive_seat_secret
from tests.rules.given import CREATED, SEED, rootless
from tests.rules.random_commands import pool
from tests.rules.random_games import Play, games
from tests.rules.test_properties import EVERY_RULESET, REPEATABLE

PAYS: Final = (ClaimRoute, BuildStation, PayTunnel, MovePassenger, Pass)  # what the speaker's hand decides


# -- what a viewer gets ----------------------------------------------------------------


def got(
    table: GameState, letter: CommandEnvelope, now: int, viewer: Seat | None
) -> tuple[object, tuple[Event, ...]]:
    """All that comes of a letter for a viewer, and the events themselves."""
    branch = table.copy()
    try:
        events = decide_envelope(branch, letter, now, SEED)
    except UnloggedRejectionError as no:
        return (no.rule, no.reason if letter.seat in (None, viewer) else ""), ()
    turned = split_by_visibility([rootless(event) for event in events])
    speaks = viewer is not None and viewer == letter.seat
    part = None
    if viewer is not None and (viewer in turned.private or speaks):
        part = pack_private_part(0, letter.id if speaks else None, turned.private.get(viewer, {}))
    may = legal(branch, viewer) if viewer is not None else []
    return (pack_public(branch.at_ms, turned), part, may, branch.next_deadline()), events


def tell_apart(
    table: GameState, viewer: Seat | None, letter: CommandEnvelope, now: int, dice: Random
) -> bool:
    """Fail if the viewer can; whether the other table really was another one."""
    first, events = got(table, letter, now, viewer)
    other = otherwise(table, viewer, letter, events, dice)
    if viewer is not None:
        assert legal(other, viewer) == legal(table, viewer)
    if viewer != letter.seat:
        letter = replace(letter, command=alike(table, letter, events, dice))
    second, _ = got(other, letter, now, viewer)
    assert second == first, (viewer, letter)
    return secrets(other) != secrets(table)


def secrets(table: GameState) -> object:
    hands = [
        (place.hand, place.tickets, place.offer, place.requested_mix, place.seat_secret)
        for place in table.seats
    ]
    return table.deck, table.ticket_decks, hands


# -- another table that looks alike ------------------------------------------------------


def otherwise(
    table: GameState, viewer: Seat | None, letter: CommandEnvelope, events: Sequence[Event], dice: Random
) -> GameState:
    """A table with other cards and tickets face down, but for what these events lay open to the viewer."""
    other = table.copy()
    mine = (CardDrawn, CardsGiven, TicketsOffered)
    opened = {type(e) for e in events if not isinstance(e, mine) or e.seat == viewer}
    others = [place for seat, place in enumerate(other.seats) if seat != viewer]
    keeps_deck = not opened.isdisjoint((MarketFilled, TunnelRevealed, CardDrawn, CardsGiven))
    keeps_tickets = not opened.isdisjoint((GameEnded, TicketsOffered))
    speaker = letter.seat if isinstance(letter.command, PAYS) else None
    holding = [place for place in others if speaker is None or place is not other.seats[speaker]]
    _deal_again(other, holding, keeps_deck, dice)
    if not keeps_tickets:
        _give_again(other, others, dice)
    if not (keeps_deck or keeps_tickets):
        other.seed = dice.randbytes(32).hex()
    for place in others:
        place.seat_secret = place.seat_secret and dice.randbytes(32).hex()
        if place.requested_mix and not any(isinstance(event, TicketsOffered) for event in events):
            short = dice.randint(0, table.rule_options.start_named)
            place.requested_mix = {"short": short, "long": table.rule_options.start_named - short}
    return other


def _deal_again(table: GameState, places: Sequence[SeatState], keeps_deck: bool, dice: Random) -> None:
    """The same number of cards to each, out of all that lie face down."""
    held = [place.hand for place in places]
    cards = [card for hand in held for card, count in hand.items() for _ in range(count)]
    if not keeps_deck:
        cards += table.deck
    dice.shuffle(cards)
    for hand in held:
        count = sum(hand.values())
        dealt, cards = Counter(cards[:count]), cards[count:]
        hand.update({card: dealt[card] for card in hand})
    if not keeps_deck:
        table.deck = cards


def _give_again(table: GameState, places: Sequence[SeatState], dice: Random) -> None:
    """The tickets of every deck change places: their backs show the deck."""
    rows = [row for place in places for row in (place.tickets, place.offer)]
    rows += table.ticket_decks.values()
    for deck in table.ticket_decks:
        where = [
            (row, n) for row in rows for n, t in enumerate(row) if table.board.tickets[str(t)].deck == deck
        ]
        tickets = [row[n] for row, n in where]
        dice.shuffle(tickets)
        for (row, n), ticket in zip(where, tickets, strict=True):
            row[n] = ticket


def alike(table: GameState, letter: CommandEnvelope, events: Sequence[Event], dice: Random) -> Command:
    """Another command that looks the same to all but the seat that says it."""
    seat, command = letter.seat, letter.command
    if seat is None or not events or any(isinstance(event, TicketsOffered) for event in events):
        return command
    if isinstance(events[0], CommandRefused) and not table.rule_options.strict:
        return ClaimRoute("nowhere-b", {"blue": dice.randrange(1, 5)})
    if isinstance(events[0], TicketsNamed | TicketsKept) and not isinstance(command, Leave):
        return dice.choice(
            [c for c in legal(table, seat) if backs(table, seat, c) == backs(table, seat, command)]
        )
    return command


def backs(table: GameState, seat: Seat, command: Command) -> list[str] | None:
    """Of which decks the tickets are that a command keeps; None where it keeps none."""
    if not isinstance(command, KeepTickets):
        return None
    offer = table.seats[seat].offer
    return sorted(table.board.tickets[str(offer[n])].deck for n in command.keep)


# -- what holds --------------------------------------------------------------------------


@EVERY_RULESET
def test_no_viewer_can_tell_what_it_may_not_know(rules: str) -> None:
    other_tables = 0

    @settings(REPEATABLE, max_examples=6)
    @given(games[rules], st.integers(0, 2**32))
    def holds(play: Play, chance: int) -> None:
        nonlocal other_tables
        dice = Random(chance)
        for number in range(400):
            if play.table.result:
                return
            play.now += dice.randrange(2000)
            wish = play.wish()
            tried = (dice.randrange(play.seats), dice.choice([Leave(), *pool(dice, play.table)]))
            for seat, command in (wish, tried):
                viewer = dice.choice([None, *range(play.seats)])
                letter = CommandEnvelope(f"c{number}", "random", seat, command)
                other_tables += tell_apart(play.table, viewer, letter, play.now, dice)
            play.say(*wish)

    holds()
    assert other_tables > 300


@EVERY_RULESET
def test_of_a_seed_all_see_its_hash_and_a_seat_its_own_luck(rules: str) -> None:
    plans = tuple(SeatPlan("bot", "random") for _ in range(3))
    letter = CommandEnvelope("create", "deal", None, CreateGame(plans, rules))
    for viewer in (None, 0, 1, 2):
        told = []
        for seed in ("a5" * 32, "5a" * 32):
            events = [
                redact_for(viewer, event) for event in decide_envelope(GameState(), letter, CREATED, seed)
            ]
            bare = str(events).replace(commit_to_seed(seed), "its hash")
            for seat in range(3):
                bare = bare.replace(derive_contribution(seed, seat), "what the house gives")
            if viewer is not None:
                bare = bare.replace(derive_seat_secret(seed, viewer), "its luck")
            told.append(bare)
        assert told[0] == told[1]


@EVERY_RULESET
def test_a_spectator_learns_nothing_of_the_deal(rules: str) -> None:
    plans = tuple(SeatPlan("bot", "random") for _ in range(3))
    market = {"market": 0} if RULESETS[rules].rule_options.market else {}
    create = CreateGame(plans, rules, seed="deal", options=market)
    table, seen = GameState(), []
    decide_envelope(table, CommandEnvelope("create", "deal", None, create), CREATED, SEED)
    for chance in range(5):
        table.seed = Random(chance).randbytes(32).hex()
        seen.append(got(table, CommandEnvelope("start", "deal", None, StartGame()), CREATED, None))
    assert all(entry == seen[0][0] for entry, _ in seen)
    assert seen[0][1] != seen[1][1]
