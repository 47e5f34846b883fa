"""P6: names that lie beside a log are checked against its commitments, by both verifiers; their absence is nothing wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import msgpack
import pytest

from schemas.events import GameCreated, SeatTaken
from schemas.stored.player_names import SaltedName, by_commitment, pack_names
from services.archive import decode_game_file, encode_game_file
from services.verification.log_check import check_file_bytes
from tests.verification.audit.small_server import SIGNER, SmallServer
from tests.verification.proof.given import first_found, played, repacked

GAME: Final = "usa-names"
ADA, BO = SaltedName(bytes(32), "Ada"), SaltedName(bytes(32), "Bo")
Names = Sequence[Any]


def with_names(names: Names) -> bytes:
    """The game's file with these pairs beside the log."""
    return repacked(played(GAME), lambda fields: fields.update(names=msgpack.packb(names)))


def found_by_audit(file: bytes) -> list[str]:
    _, checks = check_file_bytes(file)
    return [finding.why for check in checks for finding in check.findings]


def both_pass(file: bytes) -> bool:
    found = found_by_audit(file), first_found(file)
    assert bool(found[0]) == bool(found[1]), found
    return not found[0]


@pytest.mark.parametrize("kept", [(), (ADA,), (BO,), (ADA, BO)], ids=str)
def test_P6_names_that_are_committed_to_may_lie_beside_a_log_or_be_erased(kept: Sequence[SaltedName]) -> None:
    file = with_names(msgpack.unpackb(pack_names(by_commitment(kept)))) if kept else played(GAME)
    assert both_pass(file)


@pytest.mark.parametrize(
    "names",
    [
        [[bytes(32), "Eve"]],
        [[b"\1" * 32, "Ada"]],
        [[bytes(31), "\0Ada"]],
        [[bytes(32), "Ada"], [bytes(32), "Eve"]],
        [[bytes(32), "Ada"]] * 2,
        [[bytes(32), "Ada", 1]],
        [[bytes(32), b"Ada"]],
        ["Ada"],
        {"Ada": 1},
        7,
        [[bytes(32), "x" * 5_000]],
    ],
    ids=lambda names: repr(names)[:60],
)
def test_P6_a_name_that_the_log_does_not_commit_to_is_noticed(names: Names) -> None:
    assert not both_pass(with_names(names))


def test_P6_names_in_another_order_or_in_longer_msgpack_are_noticed_by_an_audit() -> None:
    packed = pack_names(by_commitment((ADA, BO)))
    assert found_by_audit(with_names([*reversed(msgpack.unpackb(packed))]))
    loose = b"\xdc\x00\x02" + packed[1:]
    assert not both_pass(repacked(played(GAME), lambda fields: fields.update(names=loose)))


@pytest.mark.parametrize("kind", [SeatTaken, GameCreated])
def test_P6_a_server_that_logs_a_name_and_its_commitment_is_noticed(kind: type) -> None:
    def cheat(server: SmallServer, entry: Any) -> Any:
        return tuple(changed(event, kind) for event in entry.events)

    server = SmallServer(cheat=cheat)
    server.play()
    file = server.file()
    heads = [sealed.head for sealed in server.log]
    assert any(
        "in its place" in why
        for why in found_by_audit(encode_game_file(file.game, file.entries, heads, SIGNER))
    )


def changed(event: Any, kind: type) -> Any:
    """The event with a name and a commitment at once."""
    if isinstance(event, SeatTaken) and kind is SeatTaken and event.seat == 0:
        return replace(event, name="Ada", name_commitment=ADA.commitment)
    if isinstance(event, GameCreated) and kind is GameCreated:
        plan = replace(event.seats[0], name="Ada", name_commitment=ADA.commitment)
        return replace(event, seats=(plan, *event.seats[1:]))
    return event


def test_a_files_names_are_read_and_one_without_has_none() -> None:
    packed = pack_names(by_commitment((ADA,)))
    file = with_names(msgpack.unpackb(packed))
    assert decode_game_file(file).names == packed
    assert decode_game_file(played(GAME)).names == b""
    empty: Callable[[dict[str, Any]], object] = lambda fields: fields.update(names=b"")  # noqa: E731
    assert found_by_audit(repacked(played(GAME), empty))
