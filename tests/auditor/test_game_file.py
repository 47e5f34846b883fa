"""The file of a game: it decodes to what was encoded, and has one encoding only."""

from __future__ import annotations

import zlib

import msgpack
import pytest

from schemas.errors import InvalidInputError
from services.archive import (
    DIGEST_BYTES,
    FILE_MAGIC,
    MARK_BYTES,
    GameFile,
    GameFileError,
    Signer,
    build_statement,
    compress_packed,
    decode_game_file,
    encode_game_file,
    is_signed,
)
from tests.auditor.given import SIGNER, played


def written() -> bytes:
    return encode_game_file(*played(), SIGNER)


def with_fields(**changed: object) -> bytes:
    """The file with some fields changed."""
    return compress_packed(msgpack.packb({**decode_game_file(written()).stored_fields(), **changed}))


def test_a_file_decodes_to_what_was_encoded() -> None:
    game, log, heads = played()
    file = decode_game_file(written())
    assert file == GameFile(
        game,
        len(log),
        heads[-1],
        SIGNER.public_key,
        file.signature,
        b"".join(head[:MARK_BYTES] for head in heads),
        log,
    )
    assert is_signed(build_statement(game, len(log), heads[-1]), file.signature, file.key)


def test_the_same_game_makes_the_same_file_every_time() -> None:
    assert written() == written()


def test_the_signature_is_over_the_documented_bytes() -> None:
    head = bytes(range(32))
    assert build_statement("game-one", 600, head) == (
        b"ledgerline/final/1\x00game-one\x00\x00\x00\x00\x00\x00\x00\x02\x58" + head
    )


def test_the_signature_is_that_of_the_standard() -> None:  # RFC 8032, 7.1, test 2
    signer = Signer("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    assert signer.public_key.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert signer.sign(b"\x72").hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


@pytest.mark.parametrize("wrong", ["", "7f", "7f" * 33, "zz" * 32])
def test_an_invalid_signing_key_is_named(wrong: str) -> None:
    with pytest.raises(InvalidInputError, match="LEDGERLINE_SIGNING_KEY"):
        Signer(wrong)


def test_another_message_key_or_signature_is_not_accepted() -> None:
    message, signature = b"the head", SIGNER.sign(b"the head")
    assert is_signed(message, signature, SIGNER.public_key)
    assert not is_signed(b"another head", signature, SIGNER.public_key)
    assert not is_signed(message, signature, Signer("01" * 32).public_key)
    assert not is_signed(message, bytes((signature[0] ^ 1,)) + signature[1:], SIGNER.public_key)
    assert not is_signed(message, b"", b"")


def test_P6_the_last_bits_of_a_file_count_too() -> None:
    """zlib reads past the unused bits of its last byte; a reader of files doesn't."""
    data = written()
    for place in range((len(data) - 5) * 8, len(data) * 8):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        with pytest.raises(GameFileError):
            decode_game_file(bytes(flipped))


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"ledgerline/log/2\n",
        FILE_MAGIC,
        FILE_MAGIC + b"no zlib",
        compress_packed(b"\xc1"),
        compress_packed(msgpack.packb([])),
        compress_packed(msgpack.packb({"game": "g"})),
        compress_packed(b"\x91" * 100_000),
    ],
)
def test_bytes_that_are_no_game_file_are_refused(wrong: bytes) -> None:
    with pytest.raises(GameFileError):
        decode_game_file(wrong)


def test_a_file_that_is_cut_or_too_long_is_refused() -> None:
    data = written()
    for wrong in (data[:-1], data[: len(data) // 2], data + b"\0"):
        with pytest.raises(GameFileError):
            decode_game_file(wrong)


def test_a_field_of_another_kind_is_named() -> None:
    for field, wrong in (("number", True), ("entries", "none"), ("head", 7), ("entries", [7])):
        with pytest.raises(GameFileError, match="entr" if field == "entries" else field):
            decode_game_file(with_fields(**{field: wrong}))


def test_msgpack_that_is_not_in_its_shortest_form_is_refused() -> None:
    packed = zlib.decompress(written()[len(FILE_MAGIC) : -DIGEST_BYTES])
    number = decode_game_file(written()).number
    short, long = b"\xa6number" + msgpack.packb(number), b"\xa6number\xce" + number.to_bytes(4, "big")
    assert short in packed
    with pytest.raises(GameFileError, match="shortest"):
        decode_game_file(compress_packed(packed.replace(short, long)))


def test_decompression_stops_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.archive.MAX_UNCOMPRESSED_BYTES", 1_000)
    with pytest.raises(GameFileError, match="more than 1000 bytes"):
        decode_game_file(compress_packed(bytes(100_000)))
