"""A server that logs an event of the deal twice, too early or too late is detected by every viewer and by
every check of its file, though all entries are sealed, chained and signed (P6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from schemas.commands import CreateGame, StartGame
from schemas.events import Event, SeatTaken, SeedRevealed, SeedSealed
from schemas.stored.codec import Proofs, pack_public
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import derive_salt, next_head, private_part_commitment
from schemas.stored.rows import pack, unpack
from schemas.trains.events import DeckLaid, HandLaid, TicketsKept
from services.archive import encode_game_file
from services.referee.games import GameState, evolve, fold, split_by_visibility
from services.referee.games.decide import decide_events
from services.referee.games.proof.sealing import SealedEntry
from services.referee.games.shuffle import commit_to_seed, derive_seat_secret
from services.verification.log_check import check_file
from tests.verification.audit.small_server import GAME, SIGNER, Cheat, Events, SmallServer
from tests.verification.proof.given import first_found

MIDDLE = 20  # entries before the inserted event


def inserted_before_the_deal(*inserted: Event) -> Cheat:
    """All contributions are known; the game is dealt from the state after these events."""

    def cheat(server: SmallServer, entry: Entry) -> Events | None:
        if not isinstance(entry.command, StartGame):
            return None
        state, events = fold(each.entry for each in server.log), list(inserted)
        for event in inserted:
            evolve(state, event)
        for event in decide_events(state, None, entry.command):
            evolve(state, event)
            events.append(event)
        return tuple(events)

    return cheat


def inserted_between(make: Callable[[GameState], Event]) -> Cheat:
    def cheat(server: SmallServer, entry: Entry) -> Events | None:
        return (make(server.state), *entry.events) if len(server.log) == MIDDLE else None

    return cheat


OTHER_SEED = SeedSealed(commit_to_seed("ab" * 32), False, "ab" * 32)
NOBODY_NOW = SeatTaken(1, "player 1", None, None, derive_seat_secret("0f" * 32, 1, GAME), "00" * 32, "nobody")
CHEATS = {
    "another seed, once the contributions are known": (inserted_before_the_deal(OTHER_SEED), 5),
    "a contribution withdrawn": (inserted_before_the_deal(NOBODY_NOW), 5),
    "a deck laid again": (inserted_between(lambda state: DeckLaid(tuple(map(str, state.own.deck)))), 21),
    "cards laid into a hand": (inserted_between(lambda state: HandLaid(0, ("locomotive",), ())), 21),
    "the seed revealed before the end": (inserted_between(lambda state: SeedRevealed(state.seed or "")), 21),
}


@pytest.mark.parametrize("name", CHEATS)
def test_P6_an_event_out_of_order_is_detected_by_every_viewer_and_found_in_the_file(name: str) -> None:
    cheat, number = CHEATS[name]
    server = SmallServer(cheat=cheat).play()
    assert {viewer for viewer, _ in server.detected} == {None, 0, 1, 2}
    assert {error.sequence for _, error in server.detected} == {number}
    numbers = {found.number for check in check_file(server.file()) for found in check.findings}
    assert min(filter(None, numbers)) == number
    entries, heads = [each.entry for each in server.log], [each.head for each in server.log]
    finding = first_found(encode_game_file(server.game, entries, heads, SIGNER))
    assert finding is not None
    assert finding[0] == number


def test_P6_a_seed_recorded_as_given_though_the_creator_gave_none_is_found() -> None:
    """Otherwise a server could do without the players' contributions."""

    def record_as_given(server: SmallServer, entry: Entry) -> Events | None:
        if not isinstance(entry.command, CreateGame):
            return None
        return tuple(replace(e, given=True) if isinstance(e, SeedSealed) else e for e in entry.events)

    [found, *_] = [
        found
        for check in check_file(SmallServer(cheat=record_as_given).play().file())
        for found in check.findings
    ]
    assert (found.number, found.kind) == (1, "deal")


class UnprovenServer(SmallServer):
    """From the second entry on it commits to nothing."""

    def seal(self, entry: Entry) -> SealedEntry:
        sealed = super().seal(entry)
        if not self.log:
            return sealed
        public = pack_public(entry.at, split_by_visibility(entry.events), Proofs(b""))
        head = next_head(self.head, len(self.log) + 1, public)
        return sealed._replace(public=public, head=head)


def test_P6_a_server_that_stops_committing_is_detected_at_once() -> None:
    server = UnprovenServer().play()
    assert {viewer for viewer, _ in server.detected} == {None, 0, 1, 2}
    assert {error.sequence for _, error in server.detected} == {2}
    assert "fewer commitments" in server.detected[0][1].reason


class SecretlessServer(SmallServer):
    """It sends no seat its secret, so that none can check the commitments to its private parts."""

    def seal(self, entry: Entry) -> SealedEntry:
        sealed = super().seal(entry)
        taken = entry.events[0]
        if not isinstance(taken, SeatTaken):
            return sealed
        row = unpack(sealed.public)[2][0]
        [(seat, part)] = sealed.private_parts
        form, before, answers, _ = unpack(part)
        return sealed._replace(private_parts=[(seat, bytes(pack((form, before, answers, {0: row}))))])


def test_P6_a_seat_without_its_secret_detects_it() -> None:
    server = SecretlessServer().play()
    assert {viewer for viewer, _ in server.detected} == {0, 1, 2}
    assert all("seat secret" in error.reason for _, error in server.detected)


class DoubleCommitServer(SmallServer):
    """It sends a seat one private part and logs another, with a commitment to each."""

    number = 0

    def seal(self, entry: Entry) -> SealedEntry:
        sealed = super().seal(entry)
        if DoubleCommitServer.number or not isinstance(entry.events[0], TicketsKept) or entry.seat is None:
            return sealed
        DoubleCommitServer.number = len(self.log) + 1
        form, before, answers, rows = unpack(dict(sealed.private_parts)[entry.seat])
        code, seat, kept = rows[0]
        other = bytes(pack((form, before, answers, {0: (code, seat, kept[::-1])})))
        salt = derive_salt(
            bytes.fromhex(self.state.seats[entry.seat].seat_secret or ""), DoubleCommitServer.number, GAME
        )
        shown = [*unpack(sealed.public)]
        shown[3] += private_part_commitment(salt, other)
        public = bytes(pack(shown))
        head = next_head(self.head, DoubleCommitServer.number, public)
        return sealed._replace(public=public, private_parts=[(entry.seat, other)], head=head)


def test_P6_a_second_commitment_to_one_part_is_detected_by_all() -> None:
    server = DoubleCommitServer().play()
    assert {viewer for viewer, _ in server.detected} == {None, 0, 1, 2}
    assert {error.sequence for _, error in server.detected} == {DoubleCommitServer.number}
