"""Codes on the wire: given once, never changed, never given again.

A type whose meaning changes gets a new version with a new code; the old line stays here.
"""

from __future__ import annotations

import pytest

from schemas import commands, events
from schemas.events import FORMER_VERSIONS
from schemas.published_contracts import COMMANDS, EVENTS

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
    ("ask_undo", 1): 21,
    ("answer_undo", 1): 22,
    ("pay_tunnel", 1): 12,
    ("decline_tunnel", 1): 13,
    ("build_station", 1): 14,
    ("move_passenger", 1): 15,
    ("request_cards", 1): 16,
    ("fork_game", 1): 17,
    ("end_game", 1): 18,
    ("free_seat", 1): 19,
    ("seat_bot", 1): 20,
}
EVENT_CODES = {
    ("game_created", 1): 1,
    ("access_set", 1): 40,
    ("seat_taken", 1): 2,
    ("seat_freed", 1): 44,
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
    ("undo_asked", 1): 50,
    ("undo_answered", 1): 51,
    ("move_undone", 1): 52,
    ("command_refused", 1): 21,
    ("seed_sealed", 1): 22,
    ("seed_revealed", 1): 41,
    ("seat_cleared", 1): 23,
    ("tickets_named", 1): 24,
    ("tunnel_revealed", 1): 25,
    ("tunnel_declined", 1): 26,
    ("revealed_discarded", 1): 27,
    ("station_built", 1): 28,
    ("passenger_placed", 1): 29,
    ("passenger_moved", 1): 30,
    ("cards_given", 1): 31,
    ("request_unmet", 1): 32,
    ("position_laid", 1): 33,
    ("deck_laid", 1): 34,
    ("tickets_laid", 1): 35,
    ("hand_laid", 1): 36,
    ("play_off_called", 1): 37,
    ("play_off_ended", 1): 38,
    ("mix_asked", 1): 39,
    ("deck_recreated", 1): 42,
    ("hand_returned", 1): 43,
    ("game_forked", 1): 45,
    ("moment_laid", 1): 46,
    ("choice_laid", 1): 47,
    ("deck_known", 1): 48,
    ("play_resumed", 1): 49,
}
COMMAND_FIELDS = {  # the order on the wire: a row from an old log is read by it
    "create_game": (
        "seats",
        "ruleset",
        "board",
        "seed",
        "options",
        "position",
        "play_off",
        "fork",
        "visibility",
        "spectator_delay",
        "by_invitation",
        "suggestions",
        "undo",
    ),
    "take_seat": ("name", "seat", "age", "contribution", "name_commitment"),
    "start_game": (),
    "draw_blind": (),
    "draw_market": ("slot", "color"),
    "draw_tickets": ("decks",),
    "keep_tickets": ("keep",),
    "claim_route": ("route", "cards", "passenger"),
    "pass": (),
    "leave": (),
    "ask_undo": (),
    "answer_undo": ("agrees",),
    "call_time": ("seat",),
    "end_game": (),
    "free_seat": ("seat",),
    "seat_bot": ("seat", "policy"),
    "pay_tunnel": ("cards",),
    "decline_tunnel": (),
    "build_station": ("city", "cards", "neighbour"),
    "move_passenger": ("city", "path"),
    "request_cards": (),
    "fork_game": ("of", "at", "asker"),
}
EVENT_FIELDS = {
    "access_set": ("visible_to", "spectator_delay", "by_invitation", "suggestions", "undo"),
    "undo_asked": ("seat",),
    "undo_answered": ("seat", "agrees"),
    "move_undone": ("seat",),
    "game_created": (
        "game",
        "ruleset",
        "rules",
        "board",
        "board_digest",
        "board_form",
        "parameters",
        "seats",
        "play_off",
        "created",
        "opened",
    ),
    "seat_taken": ("seat", "name", "policy", "age", "luck", "contribution", "by", "name_commitment"),
    "seat_freed": ("seat",),
    "game_started": ("order",),
    "deck_shuffled": ("order", "root"),
    "tickets_shuffled": ("deck", "order", "root"),
    "hand_dealt": ("seat", "cards"),
    "market_filled": ("slots", "cards"),
    "market_flushed": (),
    "tickets_offered": ("seat", "decks", "tickets", "least"),
    "tickets_kept": ("seat", "kept"),
    "tickets_returned": ("seat", "deck", "to", "tickets"),
    "turn_started": ("seat",),
    "card_drawn": ("seat", "card"),
    "market_card_taken": ("seat", "slot", "card"),
    "route_claimed": ("seat", "route", "cards", "points"),
    "passed": ("seat",),
    "last_turns_began": ("seats",),
    "seat_gone": ("seat", "why"),
    "tickets_shown": ("seat", "tickets"),
    "game_ended": ("reason", "scores"),
    "command_refused": ("seat", "rule", "why"),
    "seed_sealed": ("commitment", "given", "seed"),
    "seed_revealed": ("seed",),
    "seat_cleared": ("seat",),
    "tickets_named": ("seat", "decks"),
    "tunnel_revealed": ("seat", "route", "cards", "revealed", "extra"),
    "tunnel_declined": ("seat",),
    "revealed_discarded": (),
    "station_built": ("seat", "city", "cards", "neighbour"),
    "passenger_placed": ("seat", "city"),
    "passenger_moved": ("seat", "city", "path", "cards", "taken", "points"),
    "cards_given": ("seat", "cards"),
    "request_unmet": ("seat",),
    "position_laid": (
        "turn",
        "market",
        "discards",
        "owners",
        "cars",
        "points",
        "stations",
        "passengers",
        "tokens",
        "merchandise",
        "tickets",
    ),
    "deck_laid": ("order",),
    "tickets_laid": ("deck", "order"),
    "hand_laid": ("seat", "cards", "tickets"),
    "play_off_called": ("game", "play_off", "seats"),
    "play_off_ended": ("of", "winners"),
    "mix_asked": ("seat",),
    "deck_recreated": ("order", "root"),
    "hand_returned": ("seat", "cards"),
    "game_forked": ("of", "at", "asker", "afresh"),
    "moment_laid": (
        "order",
        "turn",
        "awaits",
        "tunnel",
        "ending",
        "last",
        "passed",
        "chosen",
        "gone",
        "clocks",
        "passengers",
        "shown",
    ),
    "choice_laid": ("seat", "offer", "least", "named", "mix"),
    "deck_known": ("seat", "deck", "order"),
    "play_resumed": (),
}


def test_every_command_has_the_code_that_it_was_given() -> None:
    assert {(cls.type, cls.version): cls.code for cls in COMMANDS} == COMMAND_CODES


def test_every_event_has_the_code_that_it_was_given() -> None:
    todays = {(cls.type, cls.version): cls.code for cls in EVENTS}
    former = {(former.type, former.version): code for code, former in FORMER_VERSIONS.items()}
    assert not todays.keys() & former.keys()
    assert {**todays, **former} == EVENT_CODES


@pytest.mark.parametrize("codes", [COMMAND_CODES, EVENT_CODES], ids=["commands", "events"])
def test_no_code_is_given_twice(codes: dict[tuple[str, int], int]) -> None:
    assert len(set(codes.values())) == len(codes)


@pytest.mark.parametrize("kind", EVENT_FIELDS)
def test_the_order_of_fields_of_an_event_on_the_wire_stays(kind: str) -> None:
    newest = max(version for other, version in EVENT_CODES if other == kind)
    assert events.FIELDS[events.BY_CODE[EVENT_CODES[kind, newest]]] == EVENT_FIELDS[kind]


@pytest.mark.parametrize("kind", COMMAND_FIELDS)
def test_the_order_of_fields_of_a_command_on_the_wire_stays(kind: str) -> None:
    assert commands.FIELDS[commands.BY_CODE[COMMAND_CODES[kind, 1]]] == COMMAND_FIELDS[kind]


def test_every_type_has_its_fields_pinned() -> None:
    assert {kind for kind, _ in EVENT_CODES} == set(EVENT_FIELDS)
    assert {kind for kind, _ in COMMAND_CODES} == set(COMMAND_FIELDS)
