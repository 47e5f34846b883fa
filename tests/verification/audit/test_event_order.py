"""A server that repeats an event of the deal, or has it too early or too late, is caught by any viewer and by
any check of its file, though all of it is sealed, chained and signed (P6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from schemas.codec import UNSEALED_FORMAT, pack_public
from schemas.commands import CreateGame, StartGame
from schemas.entries import Entry
from schemas.events import (
    DeckLaid,
    Event,
    HandLaid,
    SeatTaken,
    SeedRevealed,
    SeedSealed,
    TicketsKept,
)  # fmt: skip
from schemas.hash_chain import derive_salt, next_head, private_part_commitment
from schemas.rows import pack, unpack
from services.archive import encode_game_file
from services.referee.rules import GameState, evolve, fold, split_by_visibility
from services.referee.rules.decide import decide_events
from services.referee.rules.proof.sealing import SealedEntry
from services.referee.rules.shuffle import commit_to_seed, derive_seat_secret
from services.verification.log_check import check_file
from tests.verification.audit.small_server import GAME, SIGNER, Events, SmallServer
from tests.verification.proof.given import first_found

Lie = Callable[[SmallServer, Entry], Events | None]
MIDDLE = 20  # so many entries before the lie


def told_before_the_deal(*lies: Event) -> Lie:
    """All contributions are known; the game is dealt by what these facts make of them."""

    def lie(server: SmallServer, entry: Entry) -> Events | None:
        if not isinstance(entry.command, StartGame):
            return None
        table, told = fold(each.entry for each in server.log), list(lies)
        for event in lies:
            evolve(table, event)
        for event in decide_events(table, None, entry.command):
            evolve(table, event)
            told.append(event)
        return tuple(told)

    return lie


def inserted_between(make: Callable[[GameState], Event]) -> Lie:
    def lie(server: SmallServer, entry: Entry) -> Events | None:
        return (make(server.table), *entry.events) if len(server.log) == MIDDLE else None

    return lie


OTHER_SEED = SeedSealed(commit_to_seed("ab" * 32), False, "ab" * 32)
NOBODY_NOW = SeatTaken(1, "player 1", None, None, derive_seat_secret("0f" * 32, 1, GAME), "00" * 32, "nobody")
LIES = {
    "another seed, once the contributions are known": (told_before_the_deal(OTHER_SEED), 5),
    "a contribution taken back": (told_before_the_deal(NOBODY_NOW), 5),
    "a deck laid anew": (inserted_between(lambda table: DeckLaid(tuple(map(str, table.deck)))), 21),
    "cards laid into a hand": (inserted_between(lambda table: HandLaid(0, ("locomotive",), ())), 21),
    "the seed revealed before the end": (inserted_between(lambda table: SeedRevealed(table.seed or "")), 21),
}


@pytest.mark.parametrize("lie", LIES)
def test_P6_a_fact_out_of_its_course_is_noticed_by_every_viewer_and_found_in_the_file(lie: str) -> None:
    cheat, number = LIES[lie]
    server = SmallServer(cheat=cheat).play()
    assert {viewer for viewer, _ in server.detected} == {None, 0, 1, 2}
    assert {betrayed.sequence for _, betrayed in server.detected} == {number}
    numbers = {found.number for check in check_file(server.file()) for found in check.findings}
    assert min(filter(None, numbers)) == number
    entries, heads = [each.entry for each in server.log], [each.head for each in server.log]
    told = first_found(encode_game_file(server.game, entries, heads, SIGNER))
    assert told is not None
    assert told[0] == number


def test_P6_a_seed_that_is_recorded_as_named_though_nobody_named_it_is_found() -> None:
    """So the server would be rid of all contributions but its own."""

    def named(server: SmallServer, entry: Entry) -> Events | None:
        if not isinstance(entry.command, CreateGame):
            return None
        return tuple(replace(e, given=True) if isinstance(e, SeedSealed) else e for e in entry.events)

    [found, *_] = [
        found for check in check_file(SmallServer(cheat=named).play().file()) for found in check.findings
    ]
    assert (found.number, found.kind) == (1, "deal")


class Silent(SmallServer):
    """From the second entry on it proves nothing, as if the game were an old one."""

    def seal(self, entry: Entry) -> SealedEntry:
        sealed = super().seal(entry)
        if not self.log:
            return sealed
        public = pack_public(entry.at, split_by_visibility(entry.events))
        parts = [
            (seat, bytes(pack((UNSEALED_FORMAT, *unpack(part)[1:4])))) for seat, part in sealed.private_parts
        ]
        head = next_head(self.head, len(self.log) + 1, public)
        return sealed._replace(public=public, private_parts=parts, head=head)


def test_P6_a_server_that_stops_proving_anything_is_noticed_at_once() -> None:
    server = Silent().play()
    assert {viewer for viewer, _ in server.detected} == {None, 0, 1, 2}
    assert {betrayed.sequence for _, betrayed in server.detected} == {2}
    assert "proves nothing" in server.detected[0][1].reason


class Mute(SmallServer):
    """It sends no seat its secret, so that none can look for the commitments to its own parts."""

    def seal(self, entry: Entry) -> SealedEntry:
        sealed = super().seal(entry)
        taken = entry.events[0]
        if not isinstance(taken, SeatTaken):
            return sealed
        row = unpack(sealed.public)[2][0]
        [(seat, part)] = sealed.private_parts
        form, before, answers, _ = unpack(part)
        return sealed._replace(private_parts=[(seat, bytes(pack((form, before, answers, {0: row}))))])


def test_P6_a_seat_that_is_not_sent_its_secret_notices() -> None:
    server = Mute().play()
    assert {viewer for viewer, _ in server.detected} == {0, 1, 2}
    assert all("seat secret" in betrayed.reason for _, betrayed in server.detected)


class Double(SmallServer):
    """It shows a seat one part, and keeps another for the log, with a commitment to each."""

    number = 0

    def seal(self, entry: Entry) -> SealedEntry:
        sealed = super().seal(entry)
        if Double.number or not isinstance(entry.events[0], TicketsKept) or entry.seat is None:
            return sealed
        Double.number = len(self.log) + 1
        form, before, answers, rows = unpack(dict(sealed.private_parts)[entry.seat])
        code, seat, kept = rows[0]
        other = bytes(pack((form, before, answers, {0: (code, seat, kept[::-1])})))
        salt = derive_salt(bytes.fromhex(self.table.seats[entry.seat].seat_secret or ""), Double.number, GAME)
        shown = [*unpack(sealed.public)]
        shown[3] += private_part_commitment(salt, other)
        public = bytes(pack(shown))
        head = next_head(self.head, Double.number, public)
        return sealed._replace(public=public, private_parts=[(entry.seat, other)], head=head)


def test_P6_a_second_commitment_to_one_part_is_noticed_by_all() -> None:
    server = Double().play()
    assert {viewer for viewer, _ in server.detected} == {None, 0, 1, 2}
    assert {betrayed.sequence for _, betrayed in server.detected} == {Double.number}
