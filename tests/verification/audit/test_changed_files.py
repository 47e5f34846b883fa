"""Any changed bit of a game's file is found by a check, which names the entry (P6)."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache
from random import Random

import msgpack
import pytest

from schemas.stored.hash_chain import initial_head
from services.archive import (
    DIGEST_BYTES,
    FILE_MAGIC,
    MARK_BYTES,
    GameFile,
    GameFileError,
    build_statement,
    compress_packed,
    decode_game_file,
    encode_game_file,
)
from services.verification.log_check import Finding, check_file, check_file_bytes
from tests.long_runs import long_after
from tests.process_faults.seeds import SOAK
from tests.verification.audit.small_server import GAME, SIGNER, SmallServer

FLIPS = pytest.mark.parametrize("flips", long_after(1, (250, 2_000 if SOAK else 800)))


@cache
def played(random_seed: int = 5) -> SmallServer:
    """A short game, because changed files are checked thousands of times."""
    return SmallServer().play(seats=2, random_seed=random_seed, options={"cars": 8})


@cache
def written() -> bytes:
    entries, heads = [each.entry for each in played().log], [each.head for each in played().log]
    return encode_game_file(GAME, entries, heads, SIGNER)


def findings(file: GameFile) -> list[Finding]:
    return [found for check in check_file(file) for found in check.findings]


def first_bad(file: GameFile) -> int | None:
    return min((found.number for found in findings(file) if found.number is not None), default=None)


def with_entries(entries: Sequence[bytes]) -> GameFile:
    """The file with other entries, as somebody without the server's key could change it."""
    changed = decode_game_file(written())
    return changed._replace(entries=[*entries])


def test_P6_the_unchanged_file_has_no_findings() -> None:
    assert findings(decode_game_file(written())) == []


@FLIPS
def test_P6_every_flipped_bit_of_the_file_is_found_and_the_first_bad_entry_named(flips: int) -> None:
    rng, whole = Random(1), decode_game_file(written())
    named, header = 0, 400 + len(whole.marks)  # bytes without which nothing can be checked
    for _ in range(flips):
        place, bit = rng.randrange(len(written())), rng.randrange(8)
        data = bytearray(written())
        data[place] ^= 1 << bit
        try:
            file, checks = check_file_bytes(bytes(data))
        except GameFileError:
            assert place < header
            continue
        [found] = [found for check in checks for found in check.findings]
        if found.number is not None:
            named += 1
            before = found.number - 1
            assert file.entries[:before] == whole.entries[:before]
            assert file.entries[before : before + 1] != whole.entries[before : before + 1] or place < header
    assert named > flips * 0.6


@FLIPS
def test_P6_every_flipped_bit_of_the_uncompressed_file_is_found(flips: int) -> None:
    rng, whole = Random(2), zlib.decompress(written()[len(FILE_MAGIC) : -DIGEST_BYTES])
    for _ in range(flips // 4):
        place, bit = rng.randrange(len(whole)), rng.randrange(8)
        data = bytearray(whole)
        data[place] ^= 1 << bit
        try:
            assert findings(decode_game_file(compress_packed(bytes(data)))), (place, bit)
        except GameFileError:
            continue


@FLIPS
def test_P6_a_flipped_bit_of_an_entry_is_found_at_that_entry(flips: int) -> None:
    rng, entries = Random(3), decode_game_file(written()).entries
    for _ in range(flips // 4):
        number = rng.randrange(len(entries))
        data = bytearray(entries[number])
        place, bit = rng.randrange(len(data)), rng.randrange(8)
        data[place] ^= 1 << bit
        changed = [*entries[:number], bytes(data), *entries[number + 1 :]]
        assert first_bad(with_entries(changed)) == number + 1, (number, place, bit)


@pytest.mark.parametrize("number", [1, 2, 7, 20, -1])
def test_P6_a_dropped_entry_is_found_where_it_is_missing(number: int) -> None:
    entries = decode_game_file(written()).entries
    number %= len(entries)
    assert first_bad(with_entries(entries[:number] + entries[number + 1 :])) == number + 1


@pytest.mark.parametrize("number", [1, 5, 20])
def test_P6_swapped_entries_are_found_at_the_first(number: int) -> None:
    entries = decode_game_file(written()).entries
    entries[number], entries[number + 1] = entries[number + 1], entries[number]
    assert first_bad(with_entries(entries)) == number + 1


def test_P6_an_inserted_entry_is_found_there() -> None:
    entries = decode_game_file(written()).entries
    assert first_bad(with_entries([*entries[:9], entries[8], *entries[9:]])) == 10


def test_P6_another_games_entry_is_found_there() -> None:
    entries, others = decode_game_file(written()).entries, [each.entry for each in played(6).log]
    number = next(n for n in range(6, len(others)) if others[n] != entries[n])
    assert first_bad(with_entries([*entries[:number], others[number], *entries[number + 1 :]])) == number + 1


@pytest.mark.parametrize("cut", [1, 5])
def test_P6_a_log_without_its_end_is_found_where_it_was_cut(cut: int) -> None:
    entries = decode_game_file(written()).entries[:-cut]
    assert first_bad(with_entries(entries)) == len(entries) + 1


def test_P6_another_signature_or_key_is_found() -> None:
    file = decode_game_file(written())
    for changed in (
        file._replace(key=bytes(32)),
        file._replace(signature=bytes(64)),
        file._replace(head=bytes(32)),
    ):
        assert {found.kind for found in findings(changed)} >= {"signature"}


def test_P6_the_file_of_a_four_seat_game_is_short() -> None:
    """The goal is 40 KiB; marks and signature are all that it adds to the log."""
    file = SmallServer().play(seats=4, random_seed=2).file()
    assert len(compress_packed(msgpack.packb(file.stored_fields()))) < 16 * 1024


def test_a_negative_number_of_entries_is_a_finding() -> None:
    changed = decode_game_file(written())._replace(number=-1)
    file, [check] = check_file_bytes(compress_packed(msgpack.packb(changed.stored_fields())))
    assert file.number == -1
    assert check.findings


@pytest.mark.parametrize("left", [0, 1, 20])
def test_P6_a_signed_file_that_ends_before_the_game_does_is_not_good(left: int) -> None:
    log, heads = [each.entry for each in played().log[:left]], [each.head for each in played().log[:left]]
    head = heads[-1] if heads else initial_head(GAME)
    marks = b"".join(each[:MARK_BYTES] for each in heads)
    signature = SIGNER.sign(build_statement(GAME, left, head))
    [found] = findings(GameFile(GAME, left, head, SIGNER.public_key, signature, marks, log))
    assert (found.number, found.kind) == (None, "chain")
    assert "isn't over" in found.why
