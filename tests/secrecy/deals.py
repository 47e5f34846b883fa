"""How a game begins, twice: with two deals that differ only in what one viewer isn't dealt, and with two seeds.

A deal follows from a key that nobody can choose, so the twin's shuffles are replaced by given orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import msgpack

from schemas.commands import CommandEnvelope, StartGame
from schemas.events import DeckShuffled, Event, HandDealt, SeatTaken, SeedSealed
from schemas.field_types import Seat
from schemas.trains.events import MarketFilled, TicketsOffered, TicketsShuffled
from services.referee.games import GameState
from tests.secrecy.bare_referee import Outcome, Referee, branched, received
from tests.secrecy.gate import require_same
from tests.secrecy.matches import Match

Orders = list[list[Any]]


def deals(rules: str, count: int) -> Iterator[tuple[Match, Outcome]]:
    """Games at their start, with the outcome of the `start_game` command."""
    for chance in range(count):
        match = Match(rules, chance)
        yield match, match.opening[-1].outcome


def check_deals(rules: str, games: int) -> int:
    """Check that every viewer of these games receives the same of two deals; returns how many deals differed.

    Raises LeakError: when a viewer receives something else."""
    differed = 0
    for match, outcome in deals(rules, games):
        start = match.opening[-1]
        assert isinstance(start.envelope.command, StartGame)
        for viewer in (None, *range(match.seats)):
            orders = reorder_hidden(outcome.events, viewer, match.rng)
            other = branched(start.before, dealing(start.before.state, orders))
            twin_outcome = Referee().decide(other, start.envelope, start.now)
            observed, twin_received = (
                received(c, viewer, None, same_seed=True) for c in (outcome, twin_outcome)
            )
            require_same(observed, twin_received, viewer, start.envelope)
            differed += orders != orders_of(outcome.events)
    return differed


def dealing(state: GameState, orders: Orders) -> GameState:
    """The state before the deal, with shuffles that will return these orders."""
    other = state.copy()
    first = other.epoch

    def order(state: GameState, row: Sequence[str]) -> tuple[str, ...]:
        given = orders[state.epoch - first]
        assert sorted(given) == sorted(row)
        return tuple(given)

    other.ruleset = replace(state.ruleset, randomness=state.ruleset.randomness._replace(shuffle=order))
    return other


def orders_of(events: Sequence[Event]) -> Orders:
    return [list(event.order) for event in events if isinstance(event, DeckShuffled | TicketsShuffled)]


def reorder_hidden(events: Sequence[Event], viewer: Seat | None, rng: Random) -> Orders:
    """The same orders, with the cards and tickets that the viewer isn't shown exchanged at random."""
    orders, visible = orders_of(events), visible_positions(events, viewer)
    for number, order in enumerate(orders):
        hidden = [position for position in range(len(order)) if (number, position) not in visible]
        cards = rng.sample([order[position] for position in hidden], len(hidden))
        for position, card in zip(hidden, cards, strict=True):
            order[position] = card
    return orders


def visible_positions(events: Sequence[Event], viewer: Seat | None) -> set[tuple[int, int]]:
    """Which positions of which shuffles the viewer is shown, as (shuffle, position). The top of a pile is last."""
    piles: dict[str, list[tuple[int, int]]] = {"": []}
    visible: set[tuple[int, int]] = set()
    number = 0
    for event in events:
        if isinstance(event, DeckShuffled | TicketsShuffled):
            pile = event.deck if isinstance(event, TicketsShuffled) else ""
            positions = [(number, position) for position in range(len(event.order))][::-1]
            piles[pile] = positions + (piles[""] if pile == "" else [])
            number += 1
        elif isinstance(event, HandDealt | MarketFilled):
            drawn = [piles[""].pop() for _ in event.cards]
            visible.update(drawn if isinstance(event, MarketFilled) or event.seat == viewer else ())
        elif isinstance(event, TicketsOffered):
            drawn = [piles[deck].pop() for deck in event.decks]
            visible.update(drawn if event.seat == viewer else ())
    return visible


# -- two seeds ----------------------------------------------------------------------------------


def created_twice(match: Match, viewer: Seat | None) -> tuple[list[object], list[object]]:
    """What the viewer receives until the deal, from two servers with different seeds."""
    both: tuple[list[object], list[object]] = [], []
    for row, seed in zip(both, ("a5" * 32, "5a" * 32), strict=True):
        referee = Referee(seed)
        cached_game = branched(match.opening[0].before)
        for step in match.opening[:-1]:
            outcome = referee.decide(cached_game, step.envelope, step.now)
            row.append(without_hashes(outcome, step.envelope, viewer))
    return both


def without_hashes(outcome: Outcome, envelope: CommandEnvelope, viewer: Seat | None) -> object:
    """An entry with every hash that depends on the seed replaced by its length: nothing else may differ."""
    verdict = outcome.verdict
    assert verdict is not None
    parts = dict(verdict.private_parts)
    part = b"" if viewer is None else parts.get(viewer, b"")
    hashes = [HASHES.get(type(event), ()) for event in outcome.events]
    names = {
        str(getattr(event, name))
        for event, fields in zip(outcome.events, hashes, strict=True)
        for name in fields
    }
    public = msgpack.unpackb(verdict.public, strict_map_key=False)
    own_rows = msgpack.unpackb(part, strict_map_key=False) if part else None
    bare = str(public[:3] + [len(proof) for proof in public[3:]]), str(own_rows)
    for name in names:
        bare = bare[0].replace(name, "#" * len(name)), bare[1].replace(name, "#" * len(name))
    return bare, len(verdict.public), len(part), verdict.tasks, verdict.deadline_ms, verdict.eviction


HASHES = {SeedSealed: ("commitment",), SeatTaken: ("contribution", "luck", "name_commitment")}
