"""Files of games that somebody else made: bombs, forged creations, fields of other types. None costs much to refuse."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import msgpack
import pytest

from schemas.errors import CorruptDataError
from schemas.events import GameCreated
from schemas.stored.codec import pack_entry, unpack_entry
from schemas.trains.boards.form import BOARD_SCHEMA, read_board
from services.archive import (
    MAX_UNCOMPRESSED_BYTES,
    GameFile,
    GameFileError,
    compress_packed,
    decode_game_file,
    encode_game_file,
    recover_game_file,
)
from services.referee.games import split_by_visibility
from services.referee.games.trains.board import build_board
from services.verification.audit import audit
from services.verification.explanation import explain
from services.verification.log_check import check_file
from services.verification.replay import Replay
from tests.auditor.given import SIGNER, played
from tests.cli.command_line import run_in_process
from tests.long_runs import long_after
from tests.rules.hostile_networks import bipartite, board_of
from tests.verification.proof.given import verify_game

MAX_MEMORY: Final = 12 * MAX_UNCOMPRESSED_BYTES  # bytes; the bombs took 2 to 8 GB
FULL: Final = MAX_UNCOMPRESSED_BYTES - 1000


def bomb(name: str) -> bytes:
    """Nearly as many bytes of msgpack as a file may unfold to, as objects as large as there are."""
    head: bytes = msgpack.packb(
        {"game": "g", "number": 1, "head": b"", "key": b"", "signature": b"", "marks": b""}
    )
    fields = b"\x87" + head[1:] + msgpack.packb("entries")
    long_list = b"\xdd" + (FULL).to_bytes(4, "big")
    bombs: dict[str, bytes] = {
        "empty lists": fields + long_list + b"\x90" * FULL,
        "empty maps": fields + long_list + b"\x80" * FULL,
        "numbers": fields + long_list + b"\x01" * FULL,
        "small entries": fields + b"\xdd" + (FULL // 4).to_bytes(4, "big") + b"\xc4\x02ab" * (FULL // 4),
        "no entries": fields + b"\xdd" + (FULL // 2).to_bytes(4, "big") + b"\xc4\x00" * (FULL // 2),
        "a list of lists": fields + b"\xdc\x10\x00" + (b"\xdc\x10\x00" + b"\x90" * 4096) * 4000,
        "a list among the entries": fields + b"\x91" + long_list + b"\x90" * FULL,
        "deep lists": fields + b"\x91" * FULL,
        "a map": b"\xdf" + (FULL // 2).to_bytes(4, "big") + b"\xa1a\xc0" * (FULL // 3),
        "one entry": fields + b"\x91\xc6" + (FULL).to_bytes(4, "big") + b"\x90" * FULL,
        "an entry of lists": fields + b"\x91\xc6\x00\x07\xff\xff" + b"\x91\xc0" * (0x7FFFF // 2) + b"\xc0",
        "times": fields + b"\xdd" + (FULL // 6).to_bytes(4, "big") + b"\xd6\xff\0\0\0\1" * (FULL // 6),
    }
    return bombs[name]


BOMBS: Final = long_after(
    4,
    [
        *("an entry of lists", "empty lists", "small entries", "a list among the entries"),
        *(
            "one entry",
            "a list of lists",
            "empty maps",
            "numbers",
            "no entries",
            "deep lists",
            "a map",
            "times",
        ),
    ],
)


def peak_memory(work: Callable[[], object]) -> int:
    """The most bytes that Python's objects took during the work."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_unfolds_to_millions_of_objects_is_refused_in_bounded_memory(name: str) -> None:
    data = compress_packed(bomb(name))

    def read_all() -> None:
        with pytest.raises((GameFileError, CorruptDataError)):
            file = decode_game_file(data)
            assert not audit(Replay(file.game, file.entries), check_file(file)).ok
            raise GameFileError("its entries are refused")
        recover_game_file(data)

    assert peak_memory(read_all) < MAX_MEMORY


@pytest.mark.parametrize("name", BOMBS)
def test_the_one_file_verifier_refuses_it_in_bounded_memory_too(name: str) -> None:
    data = compress_packed(bomb(name))

    def read_all() -> None:
        with suppress(verify_game.InvalidProofError):  # it can't be read at all
            assert not verify_game.verify(data)["good"]

    assert peak_memory(read_all) < MAX_MEMORY


def test_a_file_that_unfolds_beyond_the_limit_is_not_unfolded() -> None:
    data = compress_packed(bytes(3 * MAX_UNCOMPRESSED_BYTES))
    assert len(data) < 100_000
    assert peak_memory(lambda: recover_game_file(data)) < MAX_MEMORY
    with pytest.raises(GameFileError, match="unfolds to more than"):
        decode_game_file(data)


def test_a_log_that_no_reader_would_take_is_not_written() -> None:
    with pytest.raises(GameFileError, match="more than a file may hold"):
        encode_game_file("g", [bytes(MAX_UNCOMPRESSED_BYTES // 2)] * 3, [bytes(32)] * 3, SIGNER)


# -- forged logs ---------------------------------------------------------------------------------


def forged_file(**changed: Any) -> GameFile:
    """A sound game whose first event is changed; its chain and signature are left as they were."""
    game, log, heads = played()
    file = decode_game_file(encode_game_file(game, log, heads, SIGNER))
    first = unpack_entry(log[0])
    created, *rest = first.events
    assert isinstance(created, GameCreated)
    events = (replace(created, **changed), *rest)
    entry = pack_entry(replace(first, events=events), split_by_visibility(events))[0]
    return file._replace(entries=[entry, *file.entries[1:]])


def test_a_game_that_no_rules_create_is_not_replayed_after_its_creation(tmp_path: Any) -> None:
    form = read_board(board_of("k-3-17", bipartite(3, 17)))
    file = forged_file(
        board="k-3-17", board_form=BOARD_SCHEMA.write(form), board_digest=build_board(form).digest
    )
    replay = Replay(file.game, file.entries)
    assert len(replay.redecided.entries) == 1
    assert not audit(replay, check_file(file, replay=replay)).ok
    with pytest.raises(CorruptDataError, match="the rules don't create a game with the board"):
        explain(replay, 5)
    with pytest.raises(CorruptDataError, match="the rules don't create a game with the board"):
        replay.state_after(7)
    path = tmp_path / "forged.ledger"
    path.write_bytes(compress_packed(msgpack.packb(file.stored_fields())))
    result = run_in_process("audit", str(path), "--at", "7", "--html", str(tmp_path / "page.html"))
    assert result.returncode == 1, result.stdout + result.stderr
    assert "can't be explained" in result.stdout


@pytest.mark.parametrize(
    ("changed", "field"),
    [({"created": -1}, "created"), ({"game": "No Game"}, "game"), ({"opened": 2**60}, "opened")],
)
def test_a_field_of_a_foreign_log_is_checked_as_a_client_s(changed: dict[str, Any], field: str) -> None:
    file = forged_file(**changed)
    [finding, *_] = check_file(file)[0].findings
    assert finding.number == 1
    assert field in finding.why


def test_a_field_of_another_type_is_found_where_no_rule_looks_at_it() -> None:
    game, log, heads = played()
    file = decode_game_file(encode_game_file(game, log, heads, SIGNER))
    at = next(at for at, data in enumerate(log) if unpack_entry(data).command.type == "claim_route")
    row = msgpack.unpackb(log[at], strict_map_key=False)
    row[1] = str(row[1])  # the time, in milliseconds
    entries = [*file.entries[:at], msgpack.packb(row), *file.entries[at + 1 :]]
    [finding, *_] = check_file(file._replace(entries=entries))[0].findings
    assert finding.number == at + 1
    assert "at: " in finding.why
