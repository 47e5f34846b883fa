"""How a game begins, twice: two deals that differ in whatever one viewer isn't dealt, and two seeds.

A deal follows from a key that nobody can choose, so the twin's shuffles are shown what order to give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import msgpack

from schemas.commands import CommandEnvelope, StartGame
from schemas.events import (
    DeckShuffled,
    Event,
    HandDealt,
    MarketFilled,
    SeatTaken,
    SeedSealed,
    TicketsOffered,
    TicketsShuffled,
)  # fmt: skip
from schemas.field_types import Seat
from services.referee.rules import GameState
from tests.secrecy.bare_referee import Came, Referee, branched, got
from tests.secrecy.gate import require_same
from tests.secrecy.matches import Match

Orders = list[list[Any]]


def deals(rules: str, count: int) -> Iterator[tuple[Match, Came]]:
    """Games at their start, and what came of the command to begin."""
    for chance in range(count):
        match = Match(rules, chance)
        yield match, match.opening[-1].came


def watched_deals(rules: str, games: int) -> int:
    """Every viewer of every one of these games sees the same of two deals; how many differed."""
    differed = 0
    for match, came in deals(rules, games):
        start = match.opening[-1]
        assert isinstance(start.envelope.command, StartGame)
        for viewer in (None, *range(match.seats)):
            orders = dealt_otherwise(came.events, viewer, match.rng)
            other = branched(start.before, dealing(start.before.state, orders))
            came_too = Referee().decide(other, start.envelope, start.now)
            result, told_too = (got(c, viewer, None, same_seed=True) for c in (came, came_too))
            require_same(result, told_too, viewer, start.envelope)
            differed += orders != orders_of(came.events)
    return differed


def dealing(table: GameState, orders: Orders) -> GameState:
    """The table before the deal, whose shuffles will give these orders."""
    other = table.copy()
    first = other.epoch

    def order(table: GameState, row: Sequence[str]) -> tuple[str, ...]:
        given = orders[table.epoch - first]
        assert sorted(given) == sorted(row)
        return tuple(given)

    other.ruleset = replace(table.ruleset, randomness=table.ruleset.randomness._replace(shuffle=order))
    return other


def orders_of(events: Sequence[Event]) -> Orders:
    return [list(event.order) for event in events if isinstance(event, DeckShuffled | TicketsShuffled)]


def dealt_otherwise(events: Sequence[Event], viewer: Seat | None, rng: Random) -> Orders:
    """The same orders but for the cards and tickets that the viewer isn't shown: they change places."""
    orders, shown = orders_of(events), seen_places(events, viewer)
    for number, order in enumerate(orders):
        hidden = [place for place in range(len(order)) if (number, place) not in shown]
        cards = rng.sample([order[place] for place in hidden], len(hidden))
        for place, card in zip(hidden, cards, strict=True):
            order[place] = card
    return orders


def seen_places(events: Sequence[Event], viewer: Seat | None) -> set[tuple[int, int]]:
    """Which places of which shuffles the viewer is shown. The top of a pile is its last."""
    piles: dict[str, list[tuple[int, int]]] = {"": []}
    shown: set[tuple[int, int]] = set()
    number = 0
    for event in events:
        if isinstance(event, DeckShuffled | TicketsShuffled):
            pile = event.deck if isinstance(event, TicketsShuffled) else ""
            laid = [(number, place) for place in range(len(event.order))][::-1]
            piles[pile] = laid + (piles[""] if pile == "" else [])
            number += 1
        elif isinstance(event, HandDealt | MarketFilled):
            taken = [piles[""].pop() for _ in event.cards]
            shown.update(taken if isinstance(event, MarketFilled) or event.seat == viewer else ())
        elif isinstance(event, TicketsOffered):
            taken = [piles[deck].pop() for deck in event.decks]
            shown.update(taken if event.seat == viewer else ())
    return shown


# -- two seeds ----------------------------------------------------------------------------------


def created_twice(match: Match, viewer: Seat | None) -> tuple[list[object], list[object]]:
    """What the viewer gets until the deal, from two servers with other seeds."""
    result: tuple[list[object], list[object]] = [], []
    for row, seed in zip(result, ("a5" * 32, "5a" * 32), strict=True):
        referee = Referee(seed)
        cached_game = match.opening[0].before
        cached_game = branched(cached_game)
        for step in match.opening[:-1]:
            came = referee.decide(cached_game, step.envelope, step.now)
            row.append(without_hashes(came, step.envelope, viewer))
    return result


def without_hashes(came: Came, envelope: CommandEnvelope, viewer: Seat | None) -> object:
    """An entry with the length of every hash in place of the hash: those of seeds are all that differs."""
    verdict = came.verdict
    assert verdict is not None
    parts = dict(verdict.private_parts)
    part = b"" if viewer is None else parts.get(viewer, b"")
    hashes = [HASHES.get(type(event), ()) for event in came.events]
    names = {
        str(getattr(event, name))
        for event, fields in zip(came.events, hashes, strict=True)
        for name in fields
    }
    public = msgpack.unpackb(verdict.public, strict_map_key=False)
    own = msgpack.unpackb(part, strict_map_key=False) if part else None
    bare = str(public[:3] + [len(proof) for proof in public[3:]]), str(own)
    for name in names:
        bare = bare[0].replace(name, "#" * len(name)), bare[1].replace(name, "#" * len(name))
    return bare, len(verdict.public), len(part), verdict.tasks, verdict.deadline_ms, verdict.eviction


HASHES = {SeedSealed: ("commitment",), SeatTaken: ("contribution", "luck")}
