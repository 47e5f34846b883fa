"""Commands that are not of their contract's form, and the field that is at fault."""

from __future__ import annotations

import math

import msgpack

from schemas.field_types import MAX_JSON_DEPTH

DEAL = {"type": "create_game", "seats": [{"kind": "human"}]}


def nested(depth: int, inside: object = 1) -> object:
    for _ in range(depth):
        inside = [inside]
    return inside


WRONG_COMMANDS = [
    ("unknown type", {"type": "fly"}, "type"),
    ("no type", {}, "type"),
    ("type of bytes", {"type": b"pass"}, "type"),
    ("type of a list", {"type": ["pass"]}, "type"),
    ("no object", ["pass"], "command"),
    ("nothing", None, "command"),
    ("unknown field", {"type": "pass", "seat": 1}, "seat"),
    ("missing field", {"type": "claim_route", "route": "a-b"}, "cards"),
    ("below the range", {"type": "draw_market", "slot": -1}, "slot"),
    ("above the range", {"type": "draw_market", "slot": 10}, "slot"),
    ("a huge number", {"type": "draw_market", "slot": 2**64 - 1}, "slot"),
    ("text for a number", {"type": "draw_market", "slot": "3"}, "slot"),
    ("true for a number", {"type": "draw_market", "slot": True}, "slot"),
    ("a float for a number", {"type": "draw_market", "slot": 3.0}, "slot"),
    ("NaN for a number", {"type": "draw_market", "slot": math.nan}, "slot"),
    ("a list for a number", {"type": "draw_market", "slot": nested(100)}, "slot"),
    ("two of a choice", {"type": "draw_market", "slot": 1, "color": "red"}, "draw_market"),
    ("a number in a row", {"type": "keep_tickets", "keep": [0, "1"]}, "keep.1"),
    ("text for a row", {"type": "keep_tickets", "keep": "01"}, "keep"),
    ("a long row", {"type": "keep_tickets", "keep": [0] * 11}, "keep"),
    ("bytes for text", {"type": "take_seat", "name": b"Zoe"}, "name"),
    ("a number for text", {"type": "take_seat", "name": 3}, "name"),
    ("a control character", {"type": "take_seat", "name": "Z\no"}, "name"),
    ("a long name", {"type": "take_seat", "name": "z" * 41}, "name"),
    ("no such card", {"type": "claim_route", "route": "a-b", "cards": {"pink": 1}}, "cards.pink"),
    ("no cards of a kind", {"type": "claim_route", "route": "a-b", "cards": {"red": 0}}, "cards.red"),
    ("a card of bytes", {"type": "claim_route", "route": "a-b", "cards": {b"red": 1}}, "cards.b'red'"),
    ("no such field inside", {"type": "create_game", "seats": [{"years": 3}]}, "seats.0.years"),
    ("a great age", {"type": "create_game", "seats": [{"age": 151}]}, "seats.0.age"),
    ("text for an age", {"type": "take_seat", "name": "Zoe", "age": "9"}, "age"),
    ("a number for a board", {**DEAL, "board": 3}, "board"),
    ("a list for a board", {**DEAL, "board": [{"format": 1}]}, "board"),
    ("a path for a board", {**DEAL, "board": "../usa"}, "board"),
    ("bytes in a board", {**DEAL, "board": {"id": b"usa"}}, "board"),
    ("deep nesting in a board", {**DEAL, "board": {"cities": nested(MAX_JSON_DEPTH)}}, "board"),
    ("text for a position", {**DEAL, "position": "start"}, "position"),
    ("no such entry in a position", {**DEAL, "position": {"hand": [{}]}}, "position.hand"),
    ("negative cards in a hand", {**DEAL, "position": {"hands": [{"red": -1}]}}, "position.hands.0.red"),
    ("no such card in a market", {**DEAL, "position": {"market": ["pink"]}}, "position.market.0"),
    ("a gap in a deck", {**DEAL, "position": {"deck": ["red", None]}}, "position.deck.1"),
    ("text for an owner", {**DEAL, "position": {"routes": {"a-b": "0"}}}, "position.routes.a-b"),
    ("a ticket of one city", {**DEAL, "position": {"tickets": [[{"between": ["a"], "points": 1}]]}},
     "position.tickets.0.0.between.1"),
    ("a ticket for nothing", {**DEAL, "position": {"tickets": [[{"between": ["a", "b"], "points": 0}]]}},
     "position.tickets.0.0.points"),
    ("a station of nobody", {**DEAL, "position": {"stations": {"wien": {}}}}, "position.stations.wien.seat"),
    ("true for cars", {**DEAL, "position": {"cars": [True]}}, "position.cars.0"),
    ("an empty token", {**DEAL, "position": {"tokens": {"berlin": [7, 0]}}}, "position.tokens.berlin.1"),
    ("a play-off of one", {**DEAL, "play_off": {"of": "game-1", "number": 1, "seats": [0], "wins": [0]}},
     "play_off.seats"),
    ("a play-off's game 0",
     {**DEAL, "play_off": {"of": "game-1", "number": 0, "seats": [0, 1], "wins": [0, 0]}}, "play_off.number"),
    ("a play-off of no game", {**DEAL, "play_off": {"number": 1, "seats": [0, 1], "wins": [0, 0]}},
     "play_off.of"),
    ("a walk of no step", {"type": "move_passenger", "city": "koeln", "path": []}, "path"),
    ("a station for nothing", {"type": "build_station", "city": "wien", "cards": {}}, "cards"),
    ("a station in two cities", {"type": "build_station", "city": ["wien"], "cards": {"red": 1}}, "city"),
    ("nothing for a tunnel", {"type": "pay_tunnel", "cards": {}}, "cards"),
    ("true for a passenger", {"type": "claim_route", "route": "a-b", "cards": {"red": 1}, "passenger": True},
     "passenger"),
    ("a number with a request", {"type": "request_cards", "trains": 2}, "trains"),
    ("no such policy", {"type": "create_game", "seats": [{"policy": "best"}]}, "seats.0.policy"),
    ("NaN in options", {**DEAL, "options": {"cars": math.nan}}, "options"),
    ("infinity in options", {**DEAL, "options": {"cars": [math.inf]}}, "options"),
    ("a huge number in options", {**DEAL, "options": {"cars": 2**53 + 1}}, "options"),
    ("bytes in options", {**DEAL, "options": {"deck": {"a": b"\xff"}}}, "options"),
    ("a key of bytes in options", {**DEAL, "options": {"deck": {b"a": 1}}}, "options"),
    ("a time in options", {**DEAL, "options": {"at": msgpack.Timestamp(1)}}, "options"),
    ("deep nesting in options", {**DEAL, "options": {"cars": nested(MAX_JSON_DEPTH)}}, "options"),
    ("too many options", {**DEAL, "options": {f"o{n}": 1 for n in range(65)}}, "options"),
]  # fmt: skip
