#!/usr/bin/env python3
"""Check the file of a game: `python verify_game.py FILE [--key HEX] [--json]`.

All of docs/reference/proof.md but the rules of play (`ledgerline audit FILE`), for any game. It ends with 0 (good), 1 (bad) or 2
(no game can be read, or it is newer than this file)."""

from __future__ import annotations

import argparse
import json
import re
import struct
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256, sha512
from itertools import chain, count
from pathlib import Path
from typing import Any

MAGIC = b"ledgerline/log/1\n"
MAX_FILE_SIZE, MAX_UNPACKED_SIZE, MAX_VALUES, MAX_DEPTH = 1 << 22, 1 << 24, 1 << 19, 32
NEWER = "has what is newer than I know: "
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}  # of msgpack
Pile = list[tuple[str, bytes]]  # names and salts, the top last
Row = list[Any]  # of values that are checked where they are used
Fields = dict[str, Any]  # the same
u64 = struct.Struct(">Q").pack


class InvalidProofError(Exception):
    """Something that no honest server writes."""


def require(condition: object, why: str) -> None:
    if not condition:
        raise InvalidProofError(why)


def h(label: str, *parts: bytes) -> bytes:
    return sha256(f"ledgerline/{label}/1".encode() + b"".join(parts)).digest()


class Reader:
    """Values from msgpack that somebody else wrote."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.values_left = data, 0, min(len(data), MAX_VALUES)
        self.open: list[Row] = []  # rows that aren't read to their end yet

    def take(self, size: int) -> bytes:
        self.at += size
        require(self.at <= len(self.data), "ends too early")
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def value(self) -> Any:
        code = self.number(1)
        if code < 0x80 or code >= 0xE0:
            return code if code < 0x80 else code - 256
        if code < 0xA0 or code > 0xDB:
            paired = code < 0x90 or code > 0xDD
            size = code & 15 if code < 0xA0 else self.number(2 << (code & 1))
            values = self.row(size << paired)
            return dict(zip(values[::2], values[1::2], strict=True)) if paired else values
        if code < 0xC0 or code > 0xD8:
            return str(self.take(code & 31 if code < 0xC0 else self.number(1 << code - 0xD9)), "utf-8")
        if code in CONSTANTS:
            return CONSTANTS[code]
        if 0xC4 <= code <= 0xC6:
            return self.take(self.number(1 << code - 0xC4))
        require(0xCB <= code <= 0xD3, "has a value of a kind that isn't used")
        form = ">" + "dBHIQbhiq"[code - 0xCB]
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def row(self, size: int) -> Row:
        require(size <= self.values_left and len(self.open) < MAX_DEPTH, "is too long or too deep")
        self.values_left -= size
        self.open.append([])
        self.open[-1].extend(self.value() for _ in range(size))
        return self.open.pop()


def sized(size: int, short: int, few: int, code: int, *lengths: int) -> bytes:
    """The head of something that has so many parts."""
    if size < few:
        return bytes((short + size,))
    step = next(step for step, length in enumerate(lengths) if not size >> 8 * length)
    return bytes((code + step,)) + size.to_bytes(lengths[step], "big")


def pack(value: Any) -> bytes:
    """The value in msgpack's shortest form."""
    kind = type(value)
    if kind is str:
        return sized(len(text := value.encode()), 0xA0, 32, 0xD9, 1, 2, 4) + bytes(text)
    if kind is int and -32 <= value < 128:
        return bytes((value & 255,))
    if kind is int:
        step = next(step for step in range(4) if -1 << (8 << step) - 1 <= value < 1 << (8 << step))
        return struct.pack(">B" + "BHIQbhiq"[step + 4 * (value < 0)], 0xCC + step + 4 * (value < 0), value)
    if kind is list:
        return sized(len(value), 0x90, 16, 0xDC, 2, 4) + b"".join(map(pack, value))
    if kind is dict:
        return sized(len(value), 0x80, 16, 0xDE, 2, 4) + b"".join(map(pack, chain(*value.items())))
    if kind is bytes:
        return sized(len(value), 0, 0, 0xC4, 1, 2, 4) + bytes(value)
    if kind is float:
        return struct.pack(">Bd", 0xCB, value)
    return bytes(code for code, constant in CONSTANTS.items() if constant is value)


P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # of Ed25519 (RFC 8032)
D = -121665 * pow(121666, -1, P) % P


def add_points(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    cross, along = a[0] * b[1] + a[1] * b[0], a[1] * b[1] + a[0] * b[0]
    skew = D * a[0] * b[0] * a[1] * b[1] % P
    both = pow(1 - skew * skew, -1, P)  # one inversion for the two
    return cross * (1 - skew) * both % P, along * (1 + skew) * both % P


def multiply(scalar: int, point: tuple[int, int]) -> tuple[int, int]:
    total = (0, 1)
    while scalar:
        total = add_points(total, point) if scalar & 1 else total
        point, scalar = add_points(point, point), scalar >> 1
    return total


def decode_point(data: bytes) -> tuple[int, int]:
    """The point that 32 bytes stand for. Raises ValueError if they stand for none."""
    y, odd = int.from_bytes(data, "little") & (1 << 255) - 1, data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if (x * x - square) % P == 0 else x * pow(2, (P - 1) // 4, P) % P
    if len(data) != 32 or y >= P or (x * x - square) % P or (x == 0 and odd):
        raise ValueError
    return (x if x & 1 == odd else P - x), y


def is_signed(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether this is a signature of the message by this key's owner."""
    with suppress(ValueError, IndexError):
        a, r, base = decode_point(key), decode_point(signature[:32]), decode_point(b"\x58" + b"\x66" * 31)
        s = int.from_bytes(signature[32:], "little")
        k = int.from_bytes(sha512(signature[:32] + key + message).digest(), "little") % ORDER
        return len(signature) == 64 and s < ORDER and multiply(s, base) == add_points(r, multiply(k, a))
    return False


def shuffled(row: list[str], key: bytes, epoch: int) -> list[str]:
    """The row in the order that follows from key and epoch (docs/reference/shuffle.md)."""
    row, start = list(row), b"ledgerline/shuffle/1" + key + u64(epoch)
    stream = chain.from_iterable(struct.unpack(">8I", sha256(start + u64(n)).digest()) for n in count())
    for last in range(len(row) - 1, 0, -1):
        fair = (1 << 32) - (1 << 32) % (last + 1)
        other = next(word for word in stream if word < fair) % (last + 1)
        row[last], row[other] = row[other], row[last]
    return row


def by_kind(card: str) -> tuple[int, str]:
    """Where the card stands in the row that is shuffled: those of CARDS in their order, then others by their names."""
    return CARDS.index(card) if card in CARDS else len(CARDS), card


def root(leaves: list[bytes]) -> bytes:
    """The Merkle root over leaves in their order."""
    if len(leaves) < 2:
        return h("node", *leaves)
    while even := len(leaves) & ~1:
        leaves = [h("node", *leaves[at : at + 2]) for at in range(0, even, 2)] + leaves[even:]
    return leaves[0]


# -- written by `make schemas` from the contracts of events --
CARDS = "purple white blue yellow orange red green black locomotive locomotive4 passenger".split()  # noqa: SIM905
LAID = "position_laid deck_laid tickets_laid hand_laid moment_laid choice_laid deck_known".split()  # noqa: SIM905
EVENTS = {  # by code: type, length of a row; places of the seat, of what others don't see, of what is drawn
    1: ("game_created", 12, 0, (), 0), 2: ("seat_taken", 9, 1, (5,), 0), 3: ("game_started", 2, 0, (), 0), 4: ("deck_shuffled",
    3, 0, (1,), 0), 5: ("tickets_shuffled", 4, 0, (2,), 0), 6: ("hand_dealt", 3, 1, (2,), 2), 7: ("market_filled", 3, 0, (), 2),
    8: ("market_flushed", 1, 0, (), 0), 9: ("tickets_offered", 5, 1, (3,), 0), 10: ("tickets_kept", 3, 1, (2,), 0), 11:
    ("tickets_returned", 5, 1, (4,), 0), 12: ("turn_started", 2, 0, (), 0), 13: ("card_drawn", 3, 1, (2,), 2), 14:
    ("market_card_taken", 4, 0, (), 0), 15: ("route_claimed", 5, 0, (), 0), 16: ("passed", 2, 0, (), 0), 17:
    ("last_turns_began", 2, 0, (), 0), 18: ("seat_gone", 3, 0, (), 0), 19: ("tickets_shown", 3, 0, (), 0), 20: ("game_ended", 3,
    0, (), 0), 21: ("command_refused", 4, 1, "all", 0), 22: ("seed_sealed", 4, 0, (3,), 0), 23: ("seat_cleared", 2, 0, (), 0),
    24: ("tickets_named", 3, 1, (2,), 0), 25: ("tunnel_revealed", 6, 0, (), 4), 26: ("tunnel_declined", 2, 0, (), 0), 27:
    ("revealed_discarded", 1, 0, (), 0), 28: ("station_built", 5, 0, (), 0), 29: ("passenger_placed", 3, 0, (), 0), 30:
    ("passenger_moved", 7, 0, (), 0), 31: ("cards_given", 3, 1, (2,), 2), 32: ("request_unmet", 2, 0, (), 0), 33:
    ("position_laid", 12, 0, (), 0), 34: ("deck_laid", 2, 0, (1,), 0), 35: ("tickets_laid", 3, 0, (2,), 0), 36: ("hand_laid", 4,
    1, (2, 3), 0), 37: ("play_off_called", 4, 0, (), 0), 38: ("play_off_ended", 3, 0, (), 0), 39: ("mix_asked", 2, 0, (), 0),
    40: ("access_set", 6, 0, (), 0), 41: ("seed_revealed", 2, 0, (), 0), 42: ("deck_recreated", 3, 0, (1,), 0), 43:
    ("hand_returned", 3, 1, (2,), 0), 44: ("seat_freed", 2, 0, (), 0), 45: ("game_forked", 5, 0, (), 0), 46: ("moment_laid", 13,
    0, (), 0), 47: ("choice_laid", 6, 1, (2, 5), 0), 48: ("deck_known", 4, 1, (3,), 0), 49: ("play_resumed", 1, 0, (), 0), 50:
    ("undo_asked", 2, 0, (), 0), 51: ("undo_answered", 3, 0, (), 0), 52: ("move_undone", 2, 0, (), 0)
}  # fmt: skip
# -- until here --
FIRST_ONLY = ("game_created", "seed_sealed", "access_set", "game_forked", *LAID)  # of a game's first entry
OWN = re.compile(
    r"[a-z][a-z0-9-]*:[1-9][0-9]*(?:\^([1-9]))?"
)  # codes of a game's own events: place of what is drawn


def hidden(field: object) -> list[None] | None:
    return [None] * len(field) if type(field) is list else None


def facts(row: Row) -> tuple[str, int, int, Any, int]:
    """The facts about an event, as EVENTS has them; of a game's own event only what it draws."""
    own = OWN.fullmatch(row[0]) if type(row[0]) is str else None
    require(own or type(row[0]) is int, "has an event without a code")
    require(own or row[0] <= max(EVENTS), f"{NEWER}the event {row[0]}")
    known = ("own", len(row), 0, (), int(own[1] or 0)) if own else EVENTS.get(row[0])
    if known is None or not known[1] == len(row) > known[4]:
        raise InvalidProofError(f"has an event that no game has: {row}"[:200])
    return known


def split_rows(events: list[Row], given: Row) -> Row:
    """The rows of these events as a log's entry should have them: for all, for seats, for nobody. Of a game's own events
    it takes whom the `given` ones hide them from, but they may only hide."""
    public, private, secret = Row(), dict[int, dict[int, Row]](), dict[int, Row]()
    for position, row in enumerate(events):
        kind, _, seat, hides, _ = facts(row)
        owner, shown = row[seat] if seat else None, given[0][position]
        if kind == "own" and shown is not row:
            owner = next((owner for owner, rows in given[1].items() if position in rows), None)
            hides = [i for i, field in enumerate(shown) if pack(field) != pack(row[i])] if shown else "all"
        elif not hides or (hides == "all" and owner is None):
            public.append(row)
            continue
        (secret if owner is None else private.setdefault(owner, {}))[position] = row
        redacted = (
            [hidden(field) if i in hides else field for i, field in enumerate(row)]
            if hides != "all"
            else None
        )
        public.append(redacted)
    return [public, private, secret]


def read_entry(data: bytes) -> tuple[Row, list[Row]]:
    """An entry of the log, and its events as the server knew them."""
    value = Reader(data).value()
    require(type(value[0]) is not int or value[0] < 2, f"{NEWER}the format {value[0]} of entries")
    require(pack(value) == data and len(value) == 8, "isn't written as entries are written")
    events, private, secret = list(value[5]), value[6], value[7]
    for place, row in chain(*(rows.items() for rows in (*private.values(), secret))):
        events[place] = row
    for name, has, due in zip(
        ("public", "private", "secret"), value[5:], split_rows(events, value[5:]), strict=True
    ):
        require(pack(has) == pack(due), f"has other {name} rows than its events should show")
    return value, events


class Game:
    """A game so far, as far as it is about who knows what and which card lies where."""

    def __init__(self, name: str) -> None:
        self.name, self.error, self.seed, self.key, self.vault = name, "", b"", b"", b""
        self.created, self.turned_up, self.again = Row(), list[str](), defaultdict[int, bytes](bytes)
        self.own = set[str]()  # codes of the game's own events
        self.given = self.over = self.revealed = False
        self.piles: dict[str | None, Pile] = defaultdict(list)
        self.epochs = {"shuffled": 0, "laid": 1 << 32, "returned": 1 << 33}  # the next of each
        self.last_parts, self.discards, self.names = Counter[int](), Counter[str](), set[str | None]()
        self.market, self.secrets, self.shares = dict[int, str | None](), dict[int, bytes](), dict[int, str]()

    def expect(self, condition: object, why: str) -> None:
        self.error = self.error or ("" if condition else why)

    def commits_to(self, names: bytes = b"\x90") -> bool:
        """Whether these are pairs of salt and name that the log commits to; where one is missing, it was erased."""
        with suppress(Exception):
            pairs = Reader(names).value()
            due = {h("name", salt, name.encode()).hex() for salt, name in pairs if len(salt) == 32}
            return due <= self.names and len(due) == len(pairs) and pack(pairs) == names
        return False

    def maker(self) -> str:
        """Who could have chosen the deal: the server knows the seed, and all contributions before the last."""
        rest = {h("contribution", self.seed, bytes((seat,))).hex() for seat in self.shares} | {"0" * 64}
        seats = [seat for seat, share in self.shares.items() if share not in rest]
        how = f"{'contributed last' if seats[1:] else 'alone contributed'} to the deal: with the server it"
        who = f"seat {seats[-1]} {how}" if seats else "no seat contributed to the deal: the server alone"
        return "whoever named the seed knew the deal" if self.given else f"{who} could have chosen it"

    def unknown(self) -> str:
        """What of this game the verifier can't check, as it is no other game's."""
        own = f"what its own events ({', '.join(sorted(self.own))}) mean, and what they may hide"
        return f"unchecked, for only the game {self.created[2]} knows it: which cards it has, {own}"

    def apply(self, entry: Row, events: list[Row]) -> None:
        """Apply an entry's events; `error` is what isn't as the deal has it."""
        first, self.leaves, self.shown = not self.created, list[bytes](), list[bytes]()  # leaves; all's salts
        self.seat_salts: dict[int, list[bytes]] = defaultdict(list)  # salts of what each seat sees
        self.expect(not self.over, "comes after the game's end")
        owners = {place: seat for seat, rows in entry[6].items() for place in rows}
        for place, row in enumerate(events):
            kind, *_, drawn = facts(row)
            self.expect(first or kind not in FIRST_ONLY, "has what only a game's first entry may have")
            if drawn:
                salts = self.take_top(None, row[drawn] if type(row[drawn]) is list else [row[drawn]])
                (self.seat_salts[owners[place]] if place in owners else self.shown).extend(salts)
            if kind == "own":
                self.expect(first or self.key, "has an event of play before the game has started")
                self.own.add(row[0])
            else:
                self.apply_event((entry[4] + [None] * 9)[:9], [kind, *row[1:]])
        self.expect(self.revealed == self.over, f"{'ends without its' if self.over else 'reveals the'} seed")
        require(self.seed and entry[0] == 1, "has another format, or comes before the game's seed")

    def public_bytes(self, number: int, entry: Row) -> bytes:
        """P(n), once the entry's events are applied."""
        _, at, id_, sender, command, rows, private, secret = entry
        salt = h("salt", self.vault, u64(number), self.name.encode())[:16]
        commitments = [h("secret", salt, pack([id_, sender, command, secret]))[:16]]
        for seat in sorted({*private, *(() if sender is None else (sender,))}):
            part = [1, self.last_parts[seat], id_ if seat == sender else None, private.get(seat, {})]
            part += [b"".join(self.seat_salts[seat])] if self.seat_salts[seat] else []
            own = self.secrets.get(seat) or h("luck", self.seed, bytes((seat,)), self.name.encode())
            salt = h("salt", own, u64(number), self.name.encode())[:16]
            commitments += [h("part", salt, pack(part))[:16]] if seat in private else []
            self.last_parts[seat] = number
        public = [1, at, rows, *map(b"".join, (commitments, self.leaves, self.shown))]
        while not public[-1]:
            public.pop()
        return pack(public)

    def place_face_down(self, kind: str, names: list[str]) -> tuple[Pile, bytes]:
        """Give places to what goes face down, top first, and promise them; also their root."""
        source = self.vault + u64(self.epochs[kind])
        self.epochs[kind] += 1
        salts = [h("card-salt", source, u64(place))[:16] for place in range(len(names))]
        leaves = [h("card", salt, name.encode())[:16] for salt, name in zip(salts, names, strict=True)]
        self.leaves += leaves
        return list(zip(names, salts, strict=True))[::-1], root(leaves)

    def shuffle(self, what: str, row: list[str], order: list[str], top: str) -> Pile:
        require(self.key, "shuffles before the game has started")
        due = shuffled(row, self.key, self.epochs["shuffled"])
        pile, due_top = self.place_face_down("shuffled", order)
        self.expect(
            order == due and top == due_top.hex(),
            f"has the {what} in an order, or a root, that doesn't follow from the game's key",
        )
        return pile

    def lay_pile(self, deck: str | None, order: list[str], given: list[str] | None) -> None:
        """A pile that isn't dealt: the given one, or the rest of all there is, shuffled by the seed."""
        row = sorted(order, key=by_kind) if deck is None else sorted(order)
        due = shuffled(row, self.seed, self.epochs["laid"]) if given is None else given
        self.expect(order == due, "lays a pile that wasn't given, and doesn't follow from the seed")
        self.piles[deck], _ = self.place_face_down("laid", order)

    def take_top(self, deck: str | None, names: list[str]) -> Iterator[bytes]:
        """These leave the top of a pile: their salts."""
        for name in names:
            top, salt = self.piles[deck].pop() if self.piles[deck] else ("nothing", b"")
            self.expect(name == top, f"takes {name} from a pile on whose top {top} lay")
            yield salt

    def apply_event(self, command: Row, row: Row) -> None:
        match row:
            case ["game_created", game, _, _, _, _, _, options, *_]:
                self.expect(game == self.name and not self.created, "creates another game")
                self.created = row
                self.names |= {plan.get("name_commitment") for plan in row[8]}
                self.discards.update(options.get("cards", ()))
            case ["seed_sealed", commitment, given, seed]:
                self.seed, self.given, text = bytes.fromhex(seed), command[4] is not None, command[4]
                self.vault = h("vault", self.seed, self.name.encode())
                fits = h("commitment", self.seed).hex() == commitment and given == self.given
                fits &= not self.given or h("seed", text.encode()) == self.seed
                self.expect(fits, "has a seed that wasn't committed to, or not the one that was given")
            case ["seat_taken", seat, called, policy, _, secret, share, giver, commitment]:
                self.names.add(commitment)
                own = h("contribution", self.seed, bytes((seat,))).hex()
                made = {"seed": own, "server": own, "seat": command[4], "nobody": bytes(32).hex()}
                by = "seed" if self.given else "server" if policy else "seat" if command[4] else "nobody"
                fits = (called is None) == (commitment is not None)  # a player's name isn't in the log
                scope = (b"" if policy else self.name.encode()) + self.again[seat]
                self.secrets[seat] = due = h("luck", self.seed, bytes((seat,)), scope)
                fits &= [share, giver, secret] == [made[by], by, due.hex()] and seat not in self.shares
                self.expect(fits, f"has another secret or contribution of seat {seat} than it should")
                self.shares[seat] = made[by]
            case ["game_started", _]:
                self.expect(not self.key, "starts the game again")
                _, game, ruleset, rules, board, digest, _, options, seats, *_ = self.created
                shares = "".join(self.shares[seat] for seat in range(len(seats)))
                require(len(shares) == 64 * len(seats), "starts without 32 bytes of every seat's")
                resolved = h("rules", pack([ruleset, rules, board, digest, options, len(seats)]))
                setup = resolved, bytes.fromhex(shares), b"" if self.given else game.encode()
                self.key = h("key", self.seed, *setup)
            case ["deck_laid" | "tickets_laid", *deck, order]:
                position, forked = command[6] or {}, (command[8] or {}).get("facts", ())
                named = bool(deck) and deck[0] in position.get("ticket_decks", ())  # by their cities
                fixed = (
                    order
                    if named or row[1:] in [fact[1:] for fact in forked]
                    else None
                    if deck
                    else position.get("deck")
                )
                self.lay_pile(deck[0] if deck else None, order, fixed)
            case ["game_ended", _, _]:
                self.over = True
            case ["seed_revealed", seed]:
                self.revealed = True
                self.expect(seed == self.seed.hex(), "reveals another seed than was committed to")
            case _:
                self.move_cards(row)

    def move_cards(self, row: Row) -> None:
        """Apply other events to seats, piles and what lies open, and to who sees which card."""
        match row:
            case ["seat_freed", seat]:
                self.expect(not self.key and self.shares.pop(seat, ""), f"frees seat {seat}, which is free")
                self.again[seat] = b"\0" + u64(int.from_bytes(self.again[seat], "big") + 1)
            case ["deck_shuffled" | "deck_recreated" as kind, order, top]:
                rest = self.piles.pop(None, []) if kind == "deck_recreated" else ()
                fits = Counter(order) == self.discards + Counter(name for name, _ in rest)
                fits |= "cards" not in self.created[7]  # nothing here says which cards another game has
                self.expect(fits, "shuffles other cards than it may")
                self.piles[None][:0] = self.shuffle("cards", sorted(order, key=by_kind), order, top)
                self.discards.clear()
            case ["market_filled", slots, cards]:
                self.market.update(zip(slots, cards, strict=True))
            case ["position_laid", _, market, discards, *_]:
                self.market, self.discards = dict(enumerate(market)), Counter(discards)
            case ["market_flushed"]:
                self.discards.update(card for card in self.market.values() if card is not None)
                self.market = {}
            case ["market_card_taken", seat, slot, card]:
                self.expect(card == self.market.pop(slot, None), f"takes {card} from where it didn't lie")
            case ["route_claimed" | "station_built", _, _, cards, _]:
                self.discards.update(cards)
            case ["passenger_moved", _, _, _, cards, _, _]:
                self.discards["passenger"] += cards
            case ["tunnel_revealed", _, _, _, revealed, _] | [
                "moment_laid",
                _,
                _,
                _,
                [_, _, revealed, _],
                *_,
            ]:
                self.turned_up = revealed
            case ["revealed_discarded"]:
                self.discards.update(self.turned_up)
                self.turned_up = []
            case _:
                self.move_tickets(row)

    def move_tickets(self, row: Row) -> None:
        """Apply what moves tickets, or gives a hand back."""
        match row:
            case ["tickets_shuffled", deck, order, top]:
                fits = deck not in self.piles or sorted(n for n, _ in self.piles[deck]) == sorted(order)
                self.expect(fits, f"shuffles other tickets than lay in the deck {deck}")
                self.piles[deck] = self.shuffle(f"tickets of {deck}", sorted(order), order, top)
            case ["tickets_offered", seat, decks, names, _]:
                for deck, name in zip(decks, names, strict=True):
                    self.seat_salts[seat] += self.take_top(deck, [name])
            case ["tickets_returned" | "hand_returned", seat, *where, names]:
                deck, to = where or (None, "top")  # a hand goes on the deck of cards
                pile = [(name, b"") for name in reversed(names)]
                if to in ("bottom", "top"):
                    pile, _ = self.place_face_down("returned", names)
                    self.seat_salts[seat] += [salt for _, salt in reversed(pile)]
                place = len(self.piles[deck]) if to == "top" else 0
                self.piles[deck][place:place] = pile if to != "out" else ()


KEYS = ("game", "number", "head", "key", "signature", "marks", "entries", "names")  # a file may lack the last
KINDS = tuple(zip(KEYS, (str, int, bytes, bytes, bytes, bytes, list, bytes), strict=True))


def decompressed(stream: bytes) -> tuple[bytes, bool]:
    """The content of a zlib stream, and whether it unfolds to its end."""
    unpacked, engine, end = bytearray(), zlib.decompressobj(), 0
    with suppress(zlib.error):
        while end < len(stream) and not engine.eof and len(unpacked) <= MAX_UNPACKED_SIZE:
            unpacked += engine.decompress(stream[end : end + 1])  # to have all that comes before a damage
            end += 1
    return bytes(unpacked), engine.eof and end == len(stream)


def read_game_file(data: bytes) -> tuple[Fields, str]:
    """The fields of a file, as far as they can be read, and a fault of its form. Raises InvalidProofError."""
    form = re.match(rb"ledgerline/log/([1-9]\d{0,3})\n", data)
    require(not form or form[0] == MAGIC, f"the file {NEWER}its format. Take a newer verify_game.py")
    require(form and len(data) <= MAX_FILE_SIZE, "the file isn't that of a game")
    out, whole = decompressed(data[len(MAGIC) : -32])
    sound = whole and sha256(data[:-32]).digest() == data[-32:]
    wrong = "" if sound else "the file is damaged: it isn't as it was written"
    reader = Reader(out)
    try:
        fields = reader.value()
    except (InvalidProofError, ValueError, TypeError) as error:
        wrong, pairs = wrong or f"the file {error}", [*(reader.open or [[]])[0], *reader.open[1:2]]
        fields = dict(zip(KEYS, pairs[1::2], strict=False)) if (*pairs[::2],) == KEYS[:-1] else None
    kinds = tuple((key, type(value)) for key, value in fields.items()) if type(fields) is dict else ()
    require(kinds in (KINDS, KINDS[:-1]), wrong or "the file holds no game")
    return fields, wrong or ("" if pack(fields) == out else "the file isn't written as such files are")


def followed(game: Game, entries: list[bytes], marks: bytes) -> tuple[bytes, int, str]:
    """The head after these entries; or the number of the first that is wrong, and what is wrong with it."""
    head = h("chain", game.name.encode())
    for number, data in enumerate(entries, 1):
        try:
            entry, events = read_entry(data)
            game.apply(entry, events)
            head = h("head", u64(number), head, h("leaf", game.public_bytes(number, entry)))
        except Exception as error:  # whatever its bytes are, it is the entry that is wrong
            unread = f"can't be read as an entry of a log ({type(error).__name__})"
            return head, number, str(error) if isinstance(error, InvalidProofError) else unread
        if head[:4] != marks[4 * number - 4 : 4 * number]:
            return head, number, "isn't, or its mark isn't, as signed" + (game.error and f"; it {game.error}")
        if game.error:
            return head, number, game.error
    return head, 0, ""


def verify(data: bytes, trusted: str | None = None) -> Fields:
    """The report on a file with these bytes. Raises InvalidProofError if no game can be read from it."""
    fields, damage = read_game_file(data)
    name, number, end, key, signature, marks, entries, *names = fields.values()
    game, lost = Game(name), number != len(entries) or len(marks) != 4 * number
    head, first, why = followed(game, entries, marks)
    final = b"\0".join((b"ledgerline/final/1", name.encode(), u64(number & (1 << 64) - 1) + end))
    newer = why.startswith(NEWER)  # the rest of the file must be sound: what is damaged or forged is bad
    whole = not first or newer  # no entry is wrong
    sound = not whole or damage or is_signed(key, final, signature)
    checks = (
        (first, why),
        (lost and whole and len(entries) + 1, f"doesn't fit: {number} signed, {len(entries)} readable"),
        (head != end and not lost and not first and number, "isn't what was signed: the head is another"),
        (not sound, "the signature doesn't fit the game, the number, the head and the key"),
        (trusted not in (None, key.hex()), f"it is signed by another key than {trusted}"),
        (bool(damage), damage),
        (not first and not game.commits_to(*names), "the log commits to no such names as lie beside it"),
    )
    wrong = [{"entry": None if place is True else place, "why": why} for place, why in checks if place]
    notes = ["unchecked: the moves (ledgerline audit FILE)" + ", whose key signed (--key)" * (not trusted)]
    notes += [game.unknown()] if game.own and game.created else []
    notes += [] if first else [game.maker(), *["the game isn't over at its end"] * (not game.over)]
    about = {"game": name, "entries": len(entries), "head": end.hex(), "key": key.hex()}
    return {"good": not wrong, "newer": newer and len(wrong) == 1, **about, "findings": wrong, "notes": notes}


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check the file of a game.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", metavar="HEX", type=str.lower, help="the only key that may have signed")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args(args)
    code, verdict = 2, "UNREADABLE"
    try:
        with options.file.open("rb") as file:
            report = verify(file.read(MAX_FILE_SIZE + 1), options.key)
        code, verdict = (0, "GOOD") if report["good"] else (1, "BAD")
        if report["newer"]:
            code, verdict = 2, "NEWER THAN I KNOW"
    except (InvalidProofError, OSError) as error:
        why = getattr(error, "strerror", None) or str(error)
        report = {"good": False, "findings": [{"entry": None, "why": why}], "notes": []}
    about = ", ".join(f"{key} {report[key]}" for key in ("game", "entries", "head", "key") if key in report)
    found = (f"entry {found['entry'] or '-'}: {found['why']}" for found in report["findings"])
    lines = (ascii(line)[1:-1] for line in (f"{verdict} {about}", *found, *report["notes"]))
    sys.stdout.write((json.dumps(report) if options.json else "\n".join(lines)) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
