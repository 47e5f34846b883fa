"""P8: commands that can't be read become dead letters, as do those of a damaged log; other games go on."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import CallTime, CommandEnvelope, StartGame
from schemas.errors import CorruptDataError
from schemas.events import DeckShuffled
from schemas.stored.codec import MAX_ENVELOPE_BYTES, pack_entry, pack_envelope
from schemas.stored.entries import Entry
from schemas.stored.rows import VisibilitySplit, event_to_row, pack, unpack
from schemas.trains.commands import DrawBlind, KeepTickets
from services.ledger import CommandResult, RedisLedger
from services.ledger.engine import keys
from services.referee.worker import Referee
from tests.referee.running_referee import (
    GAME,
    LOG,
    NEIGHBOUR_GAME,
    answer_of,
    dead_letter_reasons,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)


def put(client: Any, data: bytes, game: str = GAME) -> None:
    client.xadd(keys.commands(partition_of(game)), {"c": data})


GARBAGE = {
    "no bytes": b"",
    "no msgpack": b"\xc1",
    "a number": pack(7),
    "text": b"GET / HTTP/1.1",
    "cut short": pack_envelope(CommandEnvelope("c1", GAME, 0, DrawBlind()))[:-3],
    "more after it": pack_envelope(CommandEnvelope("c1", GAME, 0, DrawBlind())) + b"\x00",
    "another format": pack((9, "c1", GAME, 0, {"type": "draw_blind"})),
    "no such command": pack((1, "c1", GAME, 0, {"type": "cheat"})),
    "a field too many": pack((1, "c1", GAME, 0, {"type": "draw_blind", "card": "red"})),
    "no such seat": pack((1, "c1", GAME, 8, {"type": "draw_blind"})),
    "a game with a space": pack((1, "c1", "no game", 0, {"type": "draw_blind"})),
    "too large": pack((1, "c1", GAME, 0, {"type": "draw_blind", "pad": "x" * MAX_ENVELOPE_BYTES})),
    "too deep": pack((1, "c1", GAME, 0, {"type": "leave"}))[:-1] + b"\x91" * 2000,
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE.keys())
def test_P8_garbage_goes_to_the_dead_letters_and_stops_nothing(
    ledger: RedisLedger, opened: Referee, client: Any, data: bytes
) -> None:
    put(client, data)
    ledger.submit(CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1))))
    put(client, data)
    opened.step(0)
    assert answer_of(ledger, 0, "keep") == CommandResult(3)
    assert len(dead_letter_reasons(client)) == 2
    assert [name for name in left_in_streams(client) if name.endswith("commands")] == []


def test_P8_a_stream_entry_without_an_envelope_is_a_dead_letter(opened: Referee, client: Any) -> None:
    client.xadd(keys.commands(0), {"x": "y"})
    opened.step(0)
    assert len(dead_letter_reasons(client)) == 1


WRECKS = {
    "no msgpack": b"\xc1",
    "another format": pack((7, 0, "c1", None, (1,), (), {}, {})),
    "an unknown event": pack((1, 0, "c1", None, (3,), ((99, 1),), {}, {})),
    "an event of no game": pack_entry(
        Entry(0, "c1", None, StartGame(), (DeckShuffled((), ""),)),
        VisibilitySplit((event_to_row(DeckShuffled((), "")),), {}, {}),
    )[0],
    "a part of no event": pack((1, 0, "c1", None, (3,), (), {0: {5: (12, 0)}}, {})),
}


def as_stored(wreck: bytes) -> tuple[dict[str, bytes], bytes]:
    """The fields of the public entry and the secret rest of such an entry; of bytes that have no parts, a sound public
    entry and these."""
    try:
        form, at, id_, seat, command, public, private, secret = unpack(wreck)
    except (ValueError, TypeError, CorruptDataError):
        return {"p": pack((1, 0, ()))}, wreck
    parts = {str(owner): pack((form, 0, None, rows)) for owner, rows in private.items()}
    return {"p": pack((form, at, public)), **parts}, pack((id_, seat, command, secret))


@pytest.mark.parametrize("wreck", WRECKS.values(), ids=WRECKS.keys())
def test_P8_a_log_that_can_not_be_read_stops_no_other_game(
    ledger: RedisLedger, referee: Referee, client: Any, wreck: bytes
) -> None:
    public, secret = as_stored(wreck)
    client.xadd(LOG, {"s": secret}, id="1-0")
    client.xadd(keys.public_view(partition_of(GAME), GAME), public, id="1-0")
    submit(ledger, [CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1))), *opening_commands(NEIGHBOUR_GAME)])
    submit(ledger, [CommandEnvelope("call", GAME, None, CallTime(0))])
    referee.step(0)
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 2
    assert len(dead_letter_reasons(client)) == 2
    assert client.xlen(LOG) == 1


def test_P8_commands_for_a_log_with_a_gap_are_dead_letters(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    client.xdel(LOG, "1-0")
    ledger.submit(CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1))))
    referee_at(ledger, "fresh").step(0)
    assert dead_letter_reasons(client) == [
        f"the log can't be read: log of {GAME}: entry 1 is missing, 2 follows 0".encode()
    ]


def test_P8_commands_for_a_log_that_lost_its_end_are_dead_letters_and_stop_no_other_game(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    client.xdel(LOG, "2-0")
    submit(ledger, [CommandEnvelope("again", GAME, None, StartGame()), *opening_commands(NEIGHBOUR_GAME)])
    for name in ("fresh", "another"):
        referee_at(ledger, name).step(0)
    assert dead_letter_reasons(client) == [b"the game's keys don't fit each other after entry 1"]
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 2
    assert client.xlen(LOG) == 1
    assert not [name for name in left_in_streams(client) if name.endswith("commands")]


def test_P8_a_rejection_in_a_game_that_lost_its_chain_head_stops_no_other_game(
    ledger: RedisLedger, referee: Referee, client: Any
) -> None:
    client.xadd(LOG, {"s": pack(("c1", None, (3,), {}))}, id="1-0")
    client.xadd(keys.public_view(partition_of(GAME), GAME), {"p": pack((1, 0, ()))}, id="1-0")
    keep = CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))
    submit(ledger, [keep, *opening_commands(NEIGHBOUR_GAME)])
    referee.step(0)
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 2
    assert [name for name in left_in_streams(client) if name.endswith("commands")] == []
