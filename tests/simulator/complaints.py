"""What is wrong when all is over: the promises, checked from outside against what was seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic_core import to_json

from schemas.codec import unpack_envelope
from schemas.entries import Entry, ShownBytes, ViewEntry, write_view_entry
from schemas.field_types import Seat
from services.ledger import keys
from services.referee.rules import redact_for
from tests.simulator.chains import chained, handed_out
from tests.simulator.conservation import conserved
from tests.simulator.follower import Follower
from tests.simulator.poison import POISONS
from tests.simulator.recorder import Record

if TYPE_CHECKING:
    from tests.simulator.world import World


def complaints(world: World) -> Iterator[str]:
    """Every promise that wasn't kept in this world, now that it is at rest."""
    for record in world.recorder.records.values():
        yield from _ended(record)
        yield from _log_kept(world, record)
        yield from _views(world, record)
        yield from chained(world, record)
        yield from conserved(record)
    yield from _answers(world)
    yield from handed_out(world)
    for follower in world.followers:
        yield from _shown(world, follower)
    yield from left_over(world)
    yield from _dead(world)


def _ended(record: Record) -> Iterator[str]:
    if not record.table.result:
        yield f"P10 {record.game} didn't end: {record.table.pending_choices} at entry {len(record.stored)}"


def _log_kept(world: World, record: Record) -> Iterator[str]:
    """The log is still what was written down when each entry came."""
    if world.ledger.read_entries(record.game) != record.stored:
        yield f"P3 {record.game}: the log isn't what was written"


def _views(world: World, record: Record) -> Iterator[str]:
    for viewer in (*range(len(record.table.seats)), None):
        told = world.ledger.read_view(record.game, viewer, 0, len(record.entries) + 1)
        true = [shown(viewer, number, entry) for number, entry in enumerate(record.entries, 1)]
        if told != true:
            yield f"P5 {record.game}: the view of {viewer} isn't what it may see of the log"


def shown(viewer: Seat | None, number: int, entry: Entry) -> ViewEntry:
    """An entry as this viewer may see it."""
    events = tuple(told for event in entry.events if (told := redact_for(viewer, event)) is not None)
    return ViewEntry(number, entry.at, entry.id if _own(viewer, entry) else None, events)


def _own(viewer: Seat | None, entry: Entry) -> bool:
    return viewer is not None and entry.seat == viewer


def _answers(world: World) -> Iterator[str]:
    """Who was given a verdict finds it in the log, at its number, and no other."""
    for told in world.recorder.answers:
        record = world.recorder.records.get(told.game)
        number = record.verdicts.get((told.seat, told.id)) if record else None
        if told.number and number != told.number:
            yield f"P1 {told.game}: {told.id} was told {told.number}, the log has {number}"
        reason = keys.rejection(world.partition_of(told.game), told.game, told.seat, told.id)
        if told.level == "accepted" and number is None and reason not in world.recorder.dismissed:
            yield f"P1 {told.game}: {told.id} was accepted, and never decided"
        if told.number and record and number:
            refusal = record.entries[number - 1].refusal
            if (refusal.rule if refusal else "") != told.rule:
                yield f"P1 {told.game}: {told.id} was told {told.rule or 'yes'}, the log says {refusal}"


def _shown(world: World, follower: Follower) -> Iterator[str]:
    """A viewer was shown every entry of the log, and of each what it may see."""
    record = world.recorder.records[follower.game]
    if len(follower.shown) != len(record.entries):
        yield f"P1 {follower.name} was shown {len(follower.shown)} of {len(record.entries)} entries"
    for number, (item, entry) in enumerate(zip(follower.shown, record.entries, strict=False), 1):
        true = replace(shown(follower.viewer, number, entry), shown=ShownBytes(head=record.heads[number]))
        text = to_json({"type": "entry", **write_view_entry(true)}).decode()
        if item != (number, true.answers, text):
            yield f"P5 {follower.name}, entry {number}: shown {item}, not {text}"


def left_over(world: World) -> Iterator[str]:
    """Nothing lies about: streams are empty, no clock runs."""
    for partition in range(world.plan.partitions):
        for name in (keys.commands(partition), keys.bot_tasks(partition)):
            if count := world.peek.xlen(name):
                yield f"P9 {name} still holds {count}"
        if count := world.peek.zcard(keys.deadlines(partition)):
            yield f"P10 {keys.deadlines(partition)} still holds {count}"


def left_of_games(world: World) -> Iterator[str]:
    """Once all games had to leave, no key of theirs is there, and nobody speaks of them."""
    for name in sorted(world.peek.keys("*")):
        if b":g:" in name:
            yield f"P9 {name.decode()} stays behind"
    for partition in range(world.plan.partitions):
        for name in (keys.games(partition), keys.evictions(partition), keys.deadlines(partition)):
            if names := world.peek.zrange(name, 0, -1):
                yield f"P9 {name} still names {names}"


def _dead(world: World) -> Iterator[str]:
    """Every poison that was accepted is among the dead, and nothing else."""
    dead = {}
    for partition in range(world.plan.partitions):
        for _, fields in world.peek.xrange(keys.dead_letters(partition)):
            dead[unpack_envelope(fields[b"c"]).id] = fields[b"reason"].decode()
    for id_ in sorted(dead):
        if not id_.startswith(POISONS):
            yield f"P8 dead without being poison: {id_}, {dead[id_]}"
    for id_ in sorted(world.recorder.poison - dead.keys()):
        yield f"P8 {id_} was accepted, and isn't among the dead"
