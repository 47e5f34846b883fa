"""The promises, checked from outside when a world is at rest, against what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic_core import to_json

from schemas.field_types import Seat
from schemas.stored.codec import unpack_envelope
from schemas.stored.entries import Entry, ShownBytes, ViewEntry, write_view_entry
from schemas.stored.player_names import with_names
from services.ledger.engine import keys
from services.referee.games import redact_for
from tests.simulator.chains import chained, sent_heads
from tests.simulator.conservation import conserved
from tests.simulator.follower import Follower
from tests.simulator.poison import POISONS
from tests.simulator.recorder import Record

if TYPE_CHECKING:
    from tests.simulator.world import World


def complaints(world: World) -> Iterator[str]:
    """Every promise that wasn't kept in this world; called when it is at rest."""
    for record in world.recorder.records.values():
        yield from _ended(record)
        yield from _log_kept(world, record)
        yield from _views(world, record)
        yield from chained(world, record)
        yield from conserved(record)
    yield from _answers(world)
    yield from sent_heads(world)
    for follower in world.followers:
        yield from _followed(world, follower)
    yield from left_over(world)
    yield from _dead(world)


def _ended(record: Record) -> Iterator[str]:
    if not record.state.result:
        yield f"P10 {record.game} didn't end: {record.state.pending_choices} at entry {len(record.stored)}"


def _log_kept(world: World, record: Record) -> Iterator[str]:
    """The log is still what was recorded when each entry was appended."""
    if world.ledger.read_entries(record.game) != record.stored:
        yield f"P3 {record.game}: the log isn't what was written"


def _views(world: World, record: Record) -> Iterator[str]:
    for viewer in (*range(len(record.state.seats)), None):
        view = world.ledger.read_view(record.game, viewer, 0, len(record.entries) + 1)
        expected = [shown(viewer, number, entry) for number, entry in enumerate(record.entries, 1)]
        if view != expected:
            yield f"P5 {record.game}: the view of {viewer} isn't what it may see of the log"


def shown(viewer: Seat | None, number: int, entry: Entry) -> ViewEntry:
    """An entry as this viewer may see it."""
    events = tuple(shown for event in entry.events if (shown := redact_for(viewer, event)) is not None)
    return ViewEntry(number, entry.at, entry.id if _own(viewer, entry) else None, events)


def _own(viewer: Seat | None, entry: Entry) -> bool:
    return viewer is not None and entry.seat == viewer


def _answers(world: World) -> Iterator[str]:
    """Every verdict that a client got is in the log, at its number, and no other."""
    for answer in world.recorder.answers:
        record = world.recorder.records.get(answer.game)
        number = record.verdicts.get((answer.seat, answer.id)) if record else None
        if answer.number and number != answer.number:
            yield f"P1 {answer.game}: {answer.id} was answered as {answer.number}, the log has {number}"
        reason = keys.rejection(world.partition_of(answer.game), answer.game, answer.seat, answer.id)
        if answer.level == "accepted" and number is None and reason not in world.recorder.rejections:
            yield f"P1 {answer.game}: {answer.id} was accepted and never decided"
        if answer.number and record and number:
            refusal = record.entries[number - 1].refusal
            if (refusal.rule if refusal else "") != answer.rule:
                yield f"P1 {answer.game}: {answer.id} was answered {answer.rule or 'accepted'}, the log has {refusal}"


def _followed(world: World, follower: Follower) -> Iterator[str]:
    """A viewer was shown every entry of the log, and of each what it may see."""
    record, names = world.recorder.records[follower.game], world.ledger.read_names(follower.game)
    if len(follower.shown) != len(record.entries):
        yield f"P1 {follower.name} was shown {len(follower.shown)} of {len(record.entries)} entries"
    for number, (item, entry) in enumerate(zip(follower.shown, record.entries, strict=False), 1):
        seen = with_names(shown(follower.viewer, number, entry), names)
        expected = replace(seen, shown=ShownBytes(head=record.heads[number]))
        text = to_json({"type": "entry", **write_view_entry(expected)}).decode()
        if (*item[:2], item.text, item.head) != (number, expected.answers, text, record.heads[number]):
            yield f"P5 {follower.name}, entry {number}: shown {item}, not {text}"


def left_over(world: World) -> Iterator[str]:
    """Nothing is left to do: streams are empty, no deadline is set."""
    for partition in range(world.plan.partitions):
        for name in (keys.commands(partition), keys.bot_tasks(partition)):
            if count := world.peek.xlen(name):
                yield f"P9 {name} still holds {count}"
        if count := world.peek.zcard(keys.deadlines(partition)):
            yield f"P10 {keys.deadlines(partition)} still holds {count}"


def left_of_games(world: World) -> Iterator[str]:
    """Once all games are evicted, none of their keys is left, and no index names them."""
    for name in sorted(world.peek.keys("*")):
        if b":g:" in name:
            yield f"P9 {name.decode()} is left"
    for partition in range(world.plan.partitions):
        for key_of in (keys.games, keys.unlisted_games, keys.evictions, keys.deadlines):
            name = key_of(partition)
            if names := world.peek.zrange(name, 0, -1):
                yield f"P9 {name} still names {names}"


def _dead(world: World) -> Iterator[str]:
    """Every poison that was accepted is among the dead letters, and nothing else."""
    dead = {}
    for partition in range(world.plan.partitions):
        for _, fields in world.peek.xrange(keys.dead_letters(partition)):
            dead[unpack_envelope(fields[b"c"]).id] = fields[b"reason"].decode()
    for id_ in sorted(dead):
        if not id_.startswith(POISONS):
            yield f"P8 a dead letter that isn't poison: {id_}, {dead[id_]}"
    for id_ in sorted(world.recorder.poison - dead.keys()):
        yield f"P8 {id_} was accepted, and isn't among the dead letters"
