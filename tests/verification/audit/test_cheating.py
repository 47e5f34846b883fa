"""A server that cheats is detected: by its players at once, or by a check of its file (P6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pytest

from schemas.events import CommandRefused, Event, Row, SeedSealed, TurnStarted
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import next_head
from schemas.stored.rows import pack, unpack
from schemas.trains.events import CardDrawn, RouteClaimed
from schemas.trains.field_types import COLORS
from services.referee.games import GameState
from services.referee.games.fair_randomness import shuffle_with_key
from services.referee.games.proof.sealing import SealedEntry
from services.referee.games.shuffle import commit_to_seed
from services.verification.audit import audit
from services.verification.log_check import Finding, check_file
from services.verification.replay import Replay
from tests.verification.audit.small_server import Events, SmallServer

Alter = Callable[[SmallServer, Event], Event]
LONG = {
    "options": {"cards": {**dict.fromkeys(COLORS, 7), "locomotive": 7}}
}  # so short a deck is shuffled often


def findings(server: SmallServer) -> list[Finding]:
    """All findings in the server's file, with every command decided again."""
    file = server.file()
    return list(audit(Replay(file.game, file.entries), check_file(file)).findings)


def kinds(server: SmallServer) -> set[str]:
    return {found.kind for found in findings(server)}


def first_bad(server: SmallServer) -> int | None:
    return min(found.number for found in findings(server) if found.number)


def once(kind: type[Event], alter: Alter, skip: int = 0) -> Callable[[SmallServer, Entry], Events | None]:
    """A cheat that alters one event of a type, after skipping so many."""
    left = [skip]

    def cheat(server: SmallServer, entry: Entry) -> Events | None:
        if left[0] < 0 or not any(isinstance(event, kind) for event in entry.events):
            return None
        left[0] -= 1
        if left[0] >= 0:
            return None
        return tuple(alter(server, event) if isinstance(event, kind) else event for event in entry.events)

    return cheat


@cache
def honest() -> SmallServer:
    return SmallServer().play()


def test_P6_an_honest_game_has_no_findings() -> None:
    assert findings(honest()) == []
    assert honest().detected == []


def test_P6_a_swapped_card_is_detected_by_its_seat_and_by_the_check() -> None:
    def swapped(server: SmallServer, event: Event) -> Event:
        assert isinstance(event, CardDrawn)
        return replace(event, card="red" if event.card != "red" else "blue")

    server = SmallServer(cheat=once(CardDrawn, swapped, skip=5)).play()
    [(viewer, error)] = server.detected
    assert "isn't what was committed to" in error.reason
    assert kinds(server) == {"deal", "verdict"}
    assert first_bad(server) == error.sequence
    assert viewer is not None


@pytest.mark.parametrize("epoch", [0, 3], ids=["the first", "a later one, after a peek at the deck"])
def test_P6_a_rigged_shuffle_is_found_when_the_seed_is_revealed(epoch: int) -> None:
    def rigged(state: GameState, row: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(row)) if state.epoch == epoch else shuffle_with_key(state, row)

    server = SmallServer(shuffle=rigged).play(**LONG)  # type: ignore[arg-type]
    assert server.detected == []  # the players can't know yet
    assert "deal" in kinds(server)
    assert any("isn't the one that seed and contributions give" in found.why for found in findings(server))


def test_P6_a_seed_that_was_chosen_after_the_contributions_does_not_fit_its_commitment() -> None:
    def swap_commitment(server: SmallServer, event: Event) -> Event:
        assert isinstance(event, SeedSealed)
        return replace(event, commitment=commit_to_seed("ab" * 32))

    server = SmallServer(cheat=once(SeedSealed, swap_commitment)).play()
    assert first_bad(server) == 1
    assert "deal" in kinds(server)


def test_P6_a_log_rewritten_with_another_seed_is_found_by_a_head_that_a_player_kept() -> None:
    """The log is consistent; only the kept head shows that it was replaced."""
    kept = honest().log[3].head
    server = SmallServer(seed="1f" * 32).play()
    assert findings(server) == []
    file = server.file()
    [chain, *_] = check_file(file, noted_heads={4: kept})
    [found] = chain.findings
    assert found.number is not None
    assert found.number <= 4
    assert "kept" in found.why


def test_P6_a_legal_command_that_was_refused_is_found() -> None:
    def refuse(server: SmallServer, entry: Entry) -> Events | None:
        if len(server.log) != 20 or entry.seat is None:
            return None
        return (CommandRefused(entry.seat, "TURN-1", "it isn't your turn"),)

    server = SmallServer(cheat=refuse).play()
    assert kinds(server) == {"verdict"}
    assert first_bad(server) == 21


def test_P6_an_illegal_command_that_was_accepted_is_found() -> None:
    """Two seats get the same route."""
    altered: list[int] = []

    def accept(server: SmallServer, entry: Entry) -> Events | None:
        first = entry.events[0]
        if altered or not server.state.own.route_owners or not isinstance(first, RouteClaimed):
            return None
        taken = next((route for route in server.state.own.route_owners if route != first.route), None)
        if (
            taken is None
            or server.state.own.board.routes[taken].length
            != server.state.own.board.routes[first.route].length
        ):
            return None
        altered.append(len(server.log) + 1)
        return (replace(first, route=taken), *entry.events[1:])

    server = SmallServer(cheat=accept).play()
    assert altered
    assert "verdict" in kinds(server)
    assert first_bad(server) == altered[0]


def test_P5_a_view_with_one_private_byte_too_many_is_found() -> None:
    """Everybody is shown which card a seat drew; chain and signature cover that."""
    server = LeakyServer().play()
    assert kinds(server) == {"view", "chain"}
    assert first_bad(server) == LeakyServer.number


class LeakyServer(SmallServer):
    """It shows everybody one card that only one seat may see."""

    number = 0

    def seal(self, entry: Entry) -> SealedEntry:
        sealed = super().seal(entry)
        if LeakyServer.number or not isinstance(entry.events[0], CardDrawn):
            return sealed
        LeakyServer.number = len(self.log) + 1
        shown, logged = [*unpack(sealed.public)], [*unpack(sealed.entry)]
        row: Row = logged[6][entry.seat][0]
        shown[2] = (row, *shown[2][1:])
        logged[5] = shown[2]
        public = pack(shown)
        head = next_head(self.head, LeakyServer.number, public)
        return sealed._replace(public=public, entry=pack(logged), head=head)


def test_P6_two_players_who_are_shown_different_entries_have_different_heads() -> None:
    """The server shows one of them another entry; each chain is valid by itself."""
    one, other = SmallServer(), SmallServer()
    for server in (one, other):
        server.play(random_seed=3)
    assert one.head == other.head
    cheater = SmallServer(cheat=once(TurnStarted, lambda _, event: TurnStarted(2), skip=1))
    cheater.play(random_seed=3)
    assert cheater.log[5].head == one.log[5].head
    assert cheater.head != one.head
