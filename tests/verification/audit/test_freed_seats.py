"""P6: who takes a seat that was freed checks all of its view, and a server that gives it the secret of the one before, or frees
seats out of order, is noticed by it and found in the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from schemas.commands import FreeSeat, SeatBot, TakeSeat
from schemas.events import SeatFreed, SeatTaken
from schemas.stored.entries import Entry
from schemas.trains.commands import DrawBlind
from services.archive import encode_game_file
from services.referee.games.seat_changes import FREED_SEAT_RESTS_MS
from services.referee.games.shuffle import derive_seat_secret
from services.verification.log_check import check_file
from tests.verification.audit.small_server import GAME, SIGNER, Events, SmallServer
from tests.verification.proof.given import first_found

SHORT = {"cars": 12, "last_cars": 10}
NEXT, BOTS, START, LATER = (
    7,
    9,
    10,
    16,
)  # entries: the next holder, a bot in a freed seat, the start, and one of the play


class FreeingServer(SmallServer):
    """The host frees a person's seat, which was refused a command there, and a person and a bot come."""

    def seat_players(self, seats: int) -> None:
        super().seat_players(seats)
        self.process(1, DrawBlind())
        self.process(None, FreeSeat(1))
        self.waited_ms += FREED_SEAT_RESTS_MS
        self.process(None, TakeSeat("next", contribution="cc" * 32))
        self.process(None, FreeSeat(2))
        self.waited_ms += FREED_SEAT_RESTS_MS
        self.process(None, SeatBot(2, "random"))


def found_by_the_one_file_verifier(server: SmallServer) -> tuple[int | None, str] | None:
    entries, heads = [each.entry for each in server.log], [each.head for each in server.log]
    return first_found(encode_game_file(server.game, entries, heads, SIGNER))


def test_P6_the_next_holder_checks_all_of_its_view_and_anybody_the_file() -> None:
    server = FreeingServer().play(options=SHORT)
    assert server.detected == []
    assert [found for check in check_file(server.file()) for found in check.findings] == []
    assert found_by_the_one_file_verifier(server) is None
    contributions = [seat_state.contribution for seat_state in server.state.seats]
    assert contributions[:2] == [f"{1:064x}", "cc" * 32]


def same_secret(server: SmallServer, entry: Entry) -> Events | None:
    """Whoever sits there has the secret that it had at first."""
    if len(server.log) + 1 != NEXT:
        return None
    secret = derive_seat_secret(server.seed, 1, GAME)
    return tuple(replace(e, luck=secret) if isinstance(e, SeatTaken) else e for e in entry.events)


def same_secret_of_a_bot(server: SmallServer, entry: Entry) -> Events | None:
    if len(server.log) + 1 != BOTS:
        return None
    secret = derive_seat_secret(server.seed, 2)
    return tuple(replace(e, luck=secret) if isinstance(e, SeatTaken) else e for e in entry.events)


def freed_after_the_deal(server: SmallServer, entry: Entry) -> Events | None:
    """Seat 0 has another holder, and another contribution, once the game has started."""
    if len(server.log) + 1 != START:
        return None
    secret = derive_seat_secret(server.seed, 0, GAME, 1)
    holder = SeatTaken(0, "player 0", None, None, secret, "00" * 32, "nobody")
    return (*entry.events, SeatFreed(0), holder)


@pytest.mark.parametrize(
    ("cheat", "number", "noticed_by"),
    [
        (same_secret, NEXT, {1}),
        (same_secret_of_a_bot, BOTS, set()),
        (freed_after_the_deal, START, {None, 0, 1, 2}),
    ],
)
def test_P6_a_server_that_frees_seats_wrongly_is_noticed_and_found(
    cheat: Callable[[SmallServer, Entry], Events | None], number: int, noticed_by: set[int | None]
) -> None:
    server = FreeingServer(cheat=cheat).play(options=SHORT)
    assert {viewer for viewer, _ in server.detected} == noticed_by
    assert {error.sequence for _, error in server.detected} <= {number}
    numbers = {found.number for check in check_file(server.file()) for found in check.findings}
    assert min(filter(None, numbers)) == number
    found = found_by_the_one_file_verifier(server)
    assert found is not None
    assert found[0] == number
