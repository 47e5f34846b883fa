"""The verifier in one file: good files pass, any change is found, whatever the bytes (P6)."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zlib
from pathlib import Path
from random import Random
from time import thread_time
from typing import Any

import msgpack
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from schemas.json_schema import BEGIN, END
from services.archive import decode_game_file
from tests.golden.scenarios import SCENARIOS
from tests.long_runs import long_after, long_but_every
from tests.process_faults.seeds import SOAK
from tests.rules.random_games import RandomGame
from tests.verification.audit.small_server import SIGNER
from tests.verification.proof.given import (  # fmt: skip
    FILE_MAGIC,
    ROOT,
    VERIFIER,
    as_file,
    compressed,
    decompressed,
    first_found,
    golden_file,
    played,
    repacked,
    verify_game,
)

GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.json"))
FOUR_SEATS = "usa-four-mixed"
SMALL = "usa-move-or-clock"
LAST = 1_000  # stands for the last entry's number


# -- good files --------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", long_but_every(16, SCENARIOS))
def test_a_game_of_the_current_rules_is_good(scenario: str) -> None:
    report = verify_game.verify(played(scenario))
    assert report["findings"] == []
    assert report["head"] == decode_game_file(played(scenario)).head.hex()


def test_a_game_without_suggestions_is_good() -> None:
    game = RandomGame(Random(1), "usa", 2, options={"cars": 4}, create_fields={"suggestions": False})
    for _ in game.steps():
        pass
    assert verify_game.verify(as_file(game.state.game, game.log))["findings"] == []


@pytest.mark.parametrize("path", long_but_every(16, GOLDEN, lambda path: Path(str(path)).stem))
def test_P4_a_golden_game_is_good(path: Path) -> None:
    assert verify_game.verify(golden_file(path))["good"]


def test_it_is_one_short_file_that_needs_only_python() -> None:
    text = VERIFIER.read_text()
    tables = text.split(BEGIN)[1].split(END)[0]
    assert len(text.replace(tables, "").splitlines()) < 570
    imported = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in imported if isinstance(node, ast.Import) for name in node.names}
    names |= {node.module or "" for node in imported if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_a_game_of_four_is_checked_within_two_seconds_of_work() -> None:
    file, since = played(FOUR_SEATS), thread_time()
    assert verify_game.verify(file)["good"]
    assert thread_time() - since < 2


# -- one thing changed -------------------------------------------------------------------------


@pytest.mark.parametrize("sampled", long_after(1, (60, 2_000 if SOAK else 400)))
def test_P6_every_flipped_bit_of_a_file_is_found(sampled: int) -> None:
    file, rng = played(SMALL), Random(4)
    for place in [
        *rng.sample(range(8 * len(file)), sampled),
        *rng.sample(range(8 * len(file) - 400, 8 * len(file)), min(sampled, 400)),
    ]:
        changed = bytearray(file)
        changed[place // 8] ^= 1 << place % 8
        try:
            assert first_found(bytes(changed)) is not None, place
        except verify_game.InvalidProofError:
            continue


@pytest.mark.parametrize("sampled", long_after(1, (60, 300 if SOAK else 120)))
def test_P6_a_flipped_bit_of_an_entry_names_that_entry(sampled: int) -> None:
    """Even if the file is compressed again after the flip."""
    packed, rng = decompressed(played(SMALL)), Random(4)
    entries = decode_game_file(played(SMALL)).entries
    for _ in range(sampled):
        number = rng.randrange(len(entries))
        start, size = packed.index(entries[number]), len(entries[number])
        changed, place = bytearray(packed), 8 * start + rng.randrange(8 * size)
        changed[place // 8] ^= 1 << place % 8
        found = first_found(compressed(bytes(changed)))
        assert found is not None
        assert found[0] == number + 1


@pytest.mark.parametrize(
    ("change", "number"),
    [
        (lambda unpacked: unpacked["entries"].pop(9), 10),
        (lambda unpacked: unpacked["entries"].insert(9, unpacked["entries"][9]), 11),
        (lambda unpacked: unpacked["entries"].insert(9, unpacked["entries"][12]), 10),
        (lambda unpacked: unpacked["entries"].__setitem__(slice(9, 11), unpacked["entries"][10:8:-1]), 10),
        (lambda unpacked: unpacked["entries"].pop(), LAST),
        (lambda unpacked: unpacked["entries"].__setitem__(9, decode_game_file(played("usa-two-greedy")).entries[9]), 10),
        (lambda unpacked: unpacked.update(marks=bytes(4) + unpacked["marks"][4:]), 1),
        (lambda unpacked: unpacked.update(marks=unpacked["marks"] + bytes(4)), LAST + 1),
        (lambda unpacked: unpacked.update(number=unpacked["number"] - 1), LAST + 1),
        (lambda unpacked: unpacked.update(head=bytes(32)), LAST),
        (lambda unpacked: unpacked.update(game="another"), 1),
        (lambda unpacked: unpacked.update(entries=unpacked["entries"][:200], marks=unpacked["marks"][:800]), 201),
        (lambda unpacked: unpacked.update(signature=bytes(64)), None),
        (lambda unpacked: unpacked.update(key=bytes(32)), None),
        (lambda unpacked: unpacked.update(key=bytes(3)), None),
    ],
    ids=[
        *("dropped", "twice", "inserted", "swapped", "last dropped", "of another game", "mark", "marks more"),
        *("number", "head", "game", "tail", "signature", "key", "short key"),
    ],
)  # fmt: skip
def test_P6_a_change_is_found_where_it_was_made(change: Any, number: int | None) -> None:
    found = first_found(repacked(played(FOUR_SEATS), change))
    assert found is not None
    last = decode_game_file(played(FOUR_SEATS)).number
    assert found[0] == (number + last - LAST if number is not None and number >= LAST else number)


def test_P6_a_file_whose_end_is_damaged_is_checked_as_far_as_it_can_be_read() -> None:
    file = played(FOUR_SEATS)
    found = first_found(file[: len(file) * 2 // 3])
    assert found is not None
    assert 50 < (found[0] or 0) < decode_game_file(file).number


# -- arbitrary bytes -----------------------------------------------------------------------


def arbitrary_files() -> list[bytes]:
    rng = Random(1)
    packed = decompressed(played(SMALL))
    cut = [compressed(packed[: rng.randrange(len(packed))]) for _ in range(30)]
    nested = [
        compressed(b"\x91" * 100_000),
        compressed(b"\x81\x01" * 100_000),
        compressed(b"\xdd\xff\xff\xff\xff"),
    ]
    unpacked: list[Any] = [None, [], {}, {"game": []}, {1: 2}, [[]] * 7]
    maps = [compressed(msgpack.packb(value)) for value in unpacked]
    names = ("game", "number", "head", "key", "signature", "marks", "entries")
    good, values = decode_game_file(played(SMALL)).stored_fields(), [None, -1, list[Any]([[]])]
    odd = [{**good, name: value} for name in names for value in values]
    rows: list[Any] = [b"", b"\xc1", [], 7, "text", b"\x98" + b"\xc0" * 8, b"\x98\x02" + b"\x90" * 7]
    odd += [{**good, "entries": [row]} for row in rows]
    bomb = FILE_MAGIC + zlib.compress(bytes(1 << 26), 9)
    plain = [b"", FILE_MAGIC, FILE_MAGIC + bytes(40), FILE_MAGIC + b"\x78", rng.randbytes(10_000), bomb]
    return [*plain, *cut, *nested, *maps, *(compressed(msgpack.packb(unpacked)) for unpacked in odd)]


def test_invalid_bytes_are_reported_and_never_raise_anything_else() -> None:
    for number, data in enumerate(arbitrary_files()):
        try:
            assert first_found(data) is not None, number
        except verify_game.InvalidProofError as wrong:
            assert str(wrong).startswith("the file "), number


@pytest.mark.parametrize("sampled", long_after(1, (60, 300 if SOAK else 120)))
def test_entries_of_any_shape_are_findings_never_a_traceback(sampled: int) -> None:
    """Entries with one value replaced, as a malicious server could write them."""
    file, rng = decode_game_file(played("europe-tunnels-and-stations")), Random(2)
    odd: list[Any] = [None, True, -1, 1 << 63, 1.5, "", "red", b"x", [], [[]], {}, {0: []}, {"a": None}]
    for _ in range(sampled):
        number = rng.randrange(len(file.entries))
        value: Any = msgpack.unpackb(file.entries[number], strict_map_key=False)
        where, place = value, rng.randrange(len(value))
        while isinstance(where[place], list | dict) and where[place] and rng.random() < 0.8:
            where = where[place]
            place = rng.choice(list(where) if isinstance(where, dict) else range(len(where)))
        if where[place] == (chosen := rng.choice(odd)):
            continue
        where[place] = chosen
        entries = [*file.entries[:number], msgpack.packb(value), *file.entries[number + 1 :]]
        _, found, why = verify_game.followed(verify_game.Game(file.game), entries, file.marks)
        assert found == number + 1, (chosen, why)


# -- the command -------------------------------------------------------------------------------


def verify(file: bytes, tmp_path: Path, *options: str) -> tuple[int, str]:
    """Its exit code and what it prints, run without the product and without any package."""
    path = tmp_path / "game.ledgerline"
    path.write_bytes(file)
    command = [sys.executable, "-I", "-S", str(VERIFIER), str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_the_command_reports_by_its_exit_code(tmp_path: Path) -> None:
    key, changed = (
        SIGNER.public_key.hex(),
        repacked(played(SMALL), lambda unpacked: unpacked["entries"].pop(3)),
    )
    assert verify(played(SMALL), tmp_path)[0] == 0
    assert verify(played(SMALL), tmp_path, "--key", key.upper())[0] == 0
    assert verify(played(SMALL), tmp_path, "--key", "00" * 32)[0] == 1
    assert verify(changed, tmp_path)[0] == 1
    assert "entry 4" in verify(changed, tmp_path)[1]
    assert verify(b"nothing", tmp_path)[0] == 2


def test_the_command_reports_the_same_as_json(tmp_path: Path) -> None:
    good = json.loads(verify(played(SMALL), tmp_path, "--json")[1])
    assert (good["good"], good["game"], good["findings"]) == (True, SMALL, [])
    bad = json.loads(verify(played(SMALL), tmp_path, "--json", "--key", "00" * 32)[1])
    assert (bad["good"], len(bad["findings"]), bad["findings"][0]["entry"]) == (False, 1, None)


def test_the_name_of_a_game_can_not_forge_output(tmp_path: Path) -> None:
    code, text = verify(repacked(played(SMALL), lambda of: of.update(game="x\nGOOD \x1b[2J")), tmp_path)
    assert code == 1
    assert "\x1b" not in text
    assert "\nGOOD" not in text


# -- its own Ed25519 and msgpack -----------------------------------------------------------------


def test_signatures_are_those_of_the_standard() -> None:
    rng = Random(3)
    for size in range(0, 20, 4):
        private, message = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32)), rng.randbytes(size)
        key, signature = private.public_key().public_bytes_raw(), private.sign(message)
        assert verify_game.is_signed(key, message, signature)
        assert not verify_game.is_signed(key, message + b".", signature)
        more = int.from_bytes(signature[32:], "little") + verify_game.ORDER
        assert not verify_game.is_signed(key, message, signature[:32] + more.to_bytes(32, "little"))
        changed = bytearray(signature)
        changed[rng.randrange(64)] ^= 1 << rng.randrange(8)
        assert not verify_game.is_signed(key, message, bytes(changed))


SCALARS = st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats(allow_nan=False)
VALUES = st.recursive(
    SCALARS | st.text() | st.binary(),
    lambda values: (
        st.lists(values, max_size=20) | st.dictionaries(st.text() | st.integers(0, 300), values, max_size=20)
    ),
)


@given(VALUES)
def test_its_msgpack_is_that_of_the_library(value: Any) -> None:
    packed = msgpack.packb(value)
    assert verify_game.pack(value) == packed
    assert verify_game.Reader(packed).value() == value
