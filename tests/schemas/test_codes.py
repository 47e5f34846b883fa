"""Codes on the wire: given once, never changed, never given again.

A type whose meaning changes gets a new version with a new code; the old line stays here.
"""

from __future__ import annotations

import pytest

from schemas import commands, events

COMMAND_CODES = {
    ("create_game", 1): 1,
    ("take_seat", 1): 2,
    ("start_game", 1): 3,
    ("draw_blind", 1): 4,
    ("draw_market", 1): 5,
    ("draw_tickets", 1): 6,
    ("keep_tickets", 1): 7,
    ("claim_route", 1): 8,
    ("pass", 1): 9,
    ("leave", 1): 10,
    ("call_time", 1): 11,
}
EVENT_CODES = {
    ("game_created", 1): 1,
    ("seat_taken", 1): 2,
    ("game_started", 1): 3,
    ("deck_shuffled", 1): 4,
    ("tickets_shuffled", 1): 5,
    ("hand_dealt", 1): 6,
    ("market_filled", 1): 7,
    ("market_flushed", 1): 8,
    ("tickets_offered", 1): 9,
    ("tickets_kept", 1): 10,
    ("tickets_returned", 1): 11,
    ("turn_started", 1): 12,
    ("card_drawn", 1): 13,
    ("market_card_taken", 1): 14,
    ("route_claimed", 1): 15,
    ("passed", 1): 16,
    ("last_turns_began", 1): 17,
    ("seat_gone", 1): 18,
    ("tickets_shown", 1): 19,
    ("game_ended", 1): 20,
    ("command_refused", 1): 21,
    ("seed_sealed", 1): 22,
    ("seat_cleared", 1): 23,
}
EVENT_FIELDS = {  # the order on the wire: a row from an old log is read by it
    "seat_taken": ("seat", "name", "policy", "luck"),
    "tickets_offered": ("seat", "decks", "tickets", "least"),
    "market_card_taken": ("seat", "slot", "card"),
    "route_claimed": ("seat", "route", "cards", "points"),
    "command_refused": ("seat", "rule", "why"),
}


def test_every_command_has_the_code_that_it_was_given() -> None:
    assert {(cls.type, cls.version): cls.code for cls in commands.COMMANDS} == COMMAND_CODES


def test_every_event_has_the_code_that_it_was_given() -> None:
    assert {(cls.type, cls.version): cls.code for cls in events.EVENTS} == EVENT_CODES


@pytest.mark.parametrize("codes", [COMMAND_CODES, EVENT_CODES], ids=["commands", "events"])
def test_no_code_is_given_twice(codes: dict[tuple[str, int], int]) -> None:
    assert len(set(codes.values())) == len(codes)


@pytest.mark.parametrize("kind", EVENT_FIELDS)
def test_the_order_of_fields_on_the_wire_stays(kind: str) -> None:
    assert events.FIELDS[events.BY_CODE[EVENT_CODES[kind, 1]]] == EVENT_FIELDS[kind]
