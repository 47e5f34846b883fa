"""A second, plain referee: it reads the public entries of a finished game, plays every event again by the
rule pages (docs/reference/rules) and says what differs.

It shares no code with the core (services/referee/games), nor with `schemas`, so that the two can be compared:
an error must be made twice, by two readings of the same pages, to go unseen. It knows the hidden cards, since
the end of a game reveals the seed that they follow from; what it can't know are the tickets of a seat that
was removed.

    for difference in differences(public_entries):
        print(difference.entry, difference.rule, difference.says)

Games that start from a position or from another game aren't read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgpack

from tests.rules.plain.board import load_board
from tests.rules.plain.conduct import withdraw
from tests.rules.plain.deal import make_key
from tests.rules.plain.ending import read_end
from tests.rules.plain.pages import PAGES
from tests.rules.plain.setup import start
from tests.rules.plain.table import Difference, Event, SeatAtTable, Table, UnreadableGameError
from tests.rules.plain.turns import act

WIRE = Path(__file__).parents[2] / "schemas" / "json" / "wire.json"


class PublicEntry(NamedTuple):
    at_ms: int
    events: Sequence[Event]


def read_entries(stored: Iterable[bytes]) -> list[PublicEntry]:
    """Public entries as the stream of a game holds them (docs/reference/wire.md)."""
    entries = []
    for data in stored:
        _, at_ms, rows, *_ = msgpack.unpackb(data, strict_map_key=False)
        entries.append(PublicEntry(at_ms, [_read_event(row) for row in rows if row is not None]))
    return entries


@cache
def _fields_by_code() -> dict[int, tuple[str, tuple[str, ...]]]:
    wire = json.loads(WIRE.read_text(encoding="utf-8"))
    rows = (*wire["events"], *wire["former_events"])
    return {row["code"]: (row["type"], tuple(row["fields"])) for row in rows}


def _read_event(row: Sequence[Any]) -> dict[str, Any]:
    kind, fields = _fields_by_code()[row[0]]
    return {"type": kind, **dict(zip(fields, row[1:], strict=True))}


def differences(entries: Sequence[PublicEntry]) -> list[Difference]:
    """What the log of a finished game has otherwise than the rule pages; [] if nothing.

    After a difference that no reading can go on from the rest of the log is left alone."""
    events = [event for entry in entries for event in entry.events]
    by_type: dict[str, list[Event]] = {}
    for event in events:
        by_type.setdefault(event["type"], []).append(event)
    missing = {"game_created", "seed_sealed", "game_started", "seed_revealed"} - by_type.keys()
    if missing:
        return [Difference(len(entries), "GAME-2", f"the log has no {' and no '.join(sorted(missing))}")]
    table = _lay_table(by_type)
    try:
        for number, entry in enumerate(entries, 1):
            _read_entry(table, number, entry, by_type)
        table.need(table.over, "END-1", "the log ends before the game does")
    except UnreadableGameError:
        pass
    return table.differences


def _lay_table(by_type: Mapping[str, Sequence[Event]]) -> Table:
    created, sealed = by_type["game_created"][0], by_type["seed_sealed"][0]
    options, page = created["parameters"], PAGES[created["ruleset"]]
    seed = bytes.fromhex(by_type["seed_revealed"][0]["seed"])
    taken = {
        event["seat"]: event for event in by_type["seat_taken"]
    }  # a seat that was freed has its next holder
    contributions = [bytes.fromhex(event["contribution"]) for _, event in sorted(taken.items())]
    shown = {event["seat"]: event["tickets"] for event in by_type.get("tickets_shown", ())}
    return Table(
        created,
        sealed["commitment"],
        load_board(created["board"], options["pair_tickets"]),
        options,
        page,
        make_key(created, seed, sealed["given"], contributions, created["game"]),
        [SeatAtTable(options["cars"], shown.get(seat), options["passengers"]) for seat in range(len(taken))],
    )


def _read_entry(t: Table, number: int, entry: PublicEntry, by_type: Mapping[str, Sequence[Event]]) -> None:
    t.entry, t.events, t.read = number, entry.events, 0
    t.need(entry.at_ms >= t.at_ms, "CLOCK-1", f"time runs back to {entry.at_ms}")
    for seat in t.waits:
        t.seats[seat].spent_ms += entry.at_ms - t.at_ms
    t.at_ms = entry.at_ms
    kinds = {event["type"] for event in entry.events}
    if t.over and kinds:
        t.stop("GAME-3", f"the game is over, and {sorted(kinds)} follow")
    elif "game_started" in kinds:
        start(t, {event["seat"]: event["age"] for event in by_type["seat_taken"]})
    elif not t.order:
        return  # the game is created, seats are taken
    elif "seat_gone" in kinds:
        withdraw(t)
    else:
        act(t)
    if t.over and kinds:
        read_end(t)
    if t.next_type() is not None:
        t.stop("TURN-2", f"{t.next_type()} isn't due")
