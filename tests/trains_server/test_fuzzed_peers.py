"""A peer that breaks the protocol loses only itself: the tournament goes on as if it had been removed there (P8)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from random import Random

import pytest

from services.trains_server.protocol_calls import CALLS, Call
from tests.long_runs import long_after
from tests.trains_server.peers import MAP, Misdeed, Peer, Played, cards_of, play

BLANKS = b" \t\r\n" * 3_000
FUZZED = "Mal"
NAMES = ("Ann", "Bob", "Cyd", "Dee", "Eli", "Fay", "Gus", "Hal", "Ida")
RIGHT_KIND = {"start": "{", "pick": "[", "play": "["}  # of the calls that aren't answered "void"


def wrong_value(rng: Random, call: Call) -> object:
    """A well-formed value that is no right answer to this call."""
    city, colour = rng.choice(["Ash", "Nowhere", "", "a" * 26]), rng.choice(["red", "gold", 3, None])
    values: list[object] = [
        "", "Void", ["void"], {}, [], [[]], {"void": "void"}, "more", "more card", [None], [True],
        [city, "Bow", colour, rng.choice([2, 3.0, "3", -3, 10**40, None])],
        [["Ash", "Bow"], ["Ash", "Cam"], [city, city]], [["Ash", "Bow"]] * 3, [["Bow", "Ash"]] * 5,
        {**MAP, "width": rng.choice([9, 801, 10**30, "200", 1e300])}, {**MAP, "cities": [[city, [0, 0]]] * 2},
        {**MAP, "connections": {"Ash": {"Nowhere": {"red": 3}}}}, {**MAP, "more": 1},
    ]  # fmt: skip
    return rng.choice(
        [*values, *({"void", "more cards"} - {"more cards" if call.name == "play" else "void"})]
    )


MISDEEDS: Mapping[str, Callable[[Random, Call], Misdeed]] = {
    "silence": lambda rng, call: Misdeed(b"", "silence"),
    "a cut value, then silence": lambda rng, call: Misdeed(cut_value(rng, call), "silence"),
    "a cut value, then the end": lambda rng, call: Misdeed(cut_value(rng, call), "close"),
    "a cut value, then a reset": lambda rng, call: Misdeed(cut_value(rng, call), "abort"),
    "thousands of blanks, then silence": lambda rng, call: Misdeed(BLANKS * rng.randrange(1, 30), "silence"),
    "thousands of blanks, then the end": lambda rng, call: Misdeed(BLANKS, "close"),
    "a huge number": lambda rng, call: Misdeed(b"[" + b"9" * rng.choice([400, 5_000, 10**6]) + b"]"),
    "a number past all floats": lambda rng, call: Misdeed(b'["Ash", "Bow", "red", 1e999]'),
    "a number alone": lambda rng, call: Misdeed(b"3 "),
    "deep nesting": lambda rng, call: Misdeed(b"[" * rng.choice([17, 10_000]) + b"]" * 17),
    "deep objects": lambda rng, call: Misdeed(b'{"a":' * 10_000),
    "a long string": lambda rng, call: Misdeed(b'"' + b"a" * 3_000_000 + b'"'),
    "no UTF-8": lambda rng, call: Misdeed(b'["\xff\xfe"]'),
    "half a character": lambda rng, call: Misdeed(b'"\\ud800"'),
    "no JSON": lambda rng, call: Misdeed(rng.choice([b"GET / HTTP/1.1\r\n\r\n", b"{]", b'["a" "b"]', b"[NaN]"])),
    "random bytes": lambda rng, call: Misdeed(b"[" + rng.randbytes(200) + b"]]", "silence"),
    "a key twice": lambda rng, call: Misdeed(b'{"width": 1, "width": 2}'),
    "a wrong value": lambda rng, call: Misdeed(BLANKS + json.dumps(wrong_value(rng, call)).encode() + BLANKS),
}  # fmt: skip


def cut_value(rng: Random, call: Call) -> bytes:
    """A part of a value that would be of the right kind."""
    whole = {"{": json.dumps(MAP), "[": '["Ash", "Bow", "red", 3]', '"': '"void"'}[
        RIGHT_KIND.get(call.name, '"')
    ]
    return whole[: rng.randrange(1, len(whole))].encode()


def play_with_fuzzed(
    rng: Random, honest: int, call: str, nth: int, misdeed: Callable[[Call], Misdeed]
) -> Played:
    """A tournament of so many others and of one who does this misdeed at its n-th such call."""
    peers = [Peer(name, rng.choice(["hold-10", "buy-now"])) for name in NAMES[:honest]]
    peers.insert(rng.randrange(honest + 1), Peer(FUZZED, "buy-now", call, nth, misdeed))
    return play(peers, cards_of(rng.randrange(10**6)))


def check_misdeed(seed: int, kind: str, call: str, nth: int, honest: int) -> None:
    """Given a misdeed; then all is as it is where the player says nothing at that call, which removes it."""
    played = play_with_fuzzed(
        Random(seed), honest, call, nth, lambda call: MISDEEDS[kind](Random(seed), call)
    )
    removed = play_with_fuzzed(Random(seed), honest, call, nth, lambda call: Misdeed(b"", "silence"))
    assert played.outcome == removed.outcome
    assert played.calls == removed.calls
    was_reached = [each.name for each in played.calls[FUZZED]].count(call) > nth
    assert played.result.removed == ({FUZZED} if was_reached else set())
    if was_reached:
        assert played.calls[FUZZED][-1].name == call
    for name in NAMES[:honest]:
        assert [played.calls[name][0].name, played.calls[name][-1].name] == ["start", "end"]


@pytest.mark.parametrize("seed", long_after(6, range(36)))
def test_a_fuzzed_peer_loses_only_itself(seed: int) -> None:
    rng = Random(seed)
    call = rng.choice(CALLS)
    nth = rng.randrange(4) if call in ("play", "more") else 0
    check_misdeed(seed, rng.choice([*MISDEEDS]), call, nth, honest=rng.choice([1, 2, 4, 9]))


@pytest.mark.parametrize("kind", long_after(1, MISDEEDS))
def test_a_misdeed_at_any_call_removes_the_peer_there(kind: str) -> None:
    for call in CALLS:
        check_misdeed(len(kind), kind, call, 0, honest=1)


@pytest.mark.parametrize("seed", range(2))
def test_odd_writing_of_right_answers_is_no_misdeed(seed: int) -> None:
    """Blanks before and after, however many, and values in one piece with what follows."""
    rng = Random(seed)
    peers = [Peer(name, rng.choice(["hold-10", "buy-now"])) for name in NAMES[:4]]
    odd = [peer._replace(write=lambda data: BLANKS * rng.randrange(4) + data + BLANKS) for peer in peers]
    written, usual = play(odd, cards_of(seed)), play(peers, cards_of(seed))
    assert (written.outcome, written.calls) == (usual.outcome, usual.calls)
    assert not written.result.removed
