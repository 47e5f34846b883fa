"""A worker checks what all see of a game once for all of its seats; each seat's knowledge stays its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random

import pytest

from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry
from services.bots.seat_projection import MAX_LAG, GameProjections, SeatProjection
from services.ledger.log.views import ViewPage, ViewPageOrError, ViewRequest
from services.ledger.ports import LogRewoundError
from services.referee.games import GameState, fold_events
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.view_verifier import ViewVerifier
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import full_state
from tests.rules.sealed_games import GAME, SealedGame, fixed_games, private_part_of

Part = tuple[int, bytes]


@cache
def game(rules: str = "europe") -> SealedGame:
    return next(fixed_games(rules, steps_most=150))


class GrowingViews:
    """The views of a game that grows; parts of a seat may be replaced by others."""

    def __init__(self, sealed_game: SealedGame) -> None:
        self.public = sealed_game.view_entries(None)
        self.parts: dict[int, list[Part]] = {
            seat: [
                (n, part)
                for n, each in enumerate(sealed_game.sealed, 1)
                if (part := private_part_of(each, seat))
            ]
            for seat in range(len(sealed_game.state.seats))
        }
        self.length = 0
        self.public_entries_read = 0
        self.requests: list[ViewRequest] = []

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]:
        return [self._page(request) for request in requests]

    def _page(self, request: ViewRequest) -> ViewPageOrError:
        self.requests.append(request)
        if request.after and self.public[request.after - 1].shown.head != request.head:
            return LogRewoundError("another branch")
        entries = self.public[request.after : self.length]
        self.public_entries_read += len(entries)
        parts = {
            seat: {number: part for number, part in self.parts[seat] if after < number <= self.length}
            for seat, after in request.parts
        }
        return ViewPage({None: entries}, b"", b"", parts)


class FollowedAlone:
    """A seat's state from its own view, verified and folded apart from all others."""

    def __init__(self, sealed_game: SealedGame, seat: int) -> None:
        self.entries = iter(sealed_game.view_entries(seat))
        self.verifier, self.state = ViewVerifier(GAME, seat), GameState()

    def state_at(self, length: int) -> GameState:
        for entry in islice(self.entries, length - self.verifier.sequence):
            self.verifier.verify(entry)
            fold_events(self.state, entry.at, entry.events)
        return self.state


def any_order(views: GrowingViews, projections: GameProjections, seed: str) -> Iterator[SeatProjection]:
    """Each seat as it is asked for, while the game grows: some seats late for the first time, some seldom."""
    rng = Random(seed)
    seats = [*views.parts]
    while views.length < len(views.public):
        views.length = min(len(views.public), views.length + rng.randint(1, 8))
        seat = rng.choices(seats, weights=[10**each for each in seats])[0]
        projections = projections.with_seat(seat)
        yield projections.refresh(views, seat)


@pytest.mark.parametrize("rules", TRAIN_RULESETS)
def test_P5_a_seat_s_state_is_the_same_whoever_else_is_followed_with_it(rules: str) -> None:
    views = GrowingViews(game(rules))
    alone = {seat: FollowedAlone(game(rules), seat) for seat in views.parts}
    for projection in any_order(views, GameProjections(GAME), rules):
        assert projection.sequence == views.length
        expected = alone[projection.seat].state_at(views.length)
        assert full_state(projection.state) == full_state(expected)


def test_what_all_see_is_read_once_and_a_seat_that_is_seldom_asked_for_costs_no_more() -> None:
    views = GrowingViews(game())
    projections = GameProjections(GAME, views.parts)
    for length in range(len(views.public)):
        views.length = length + 1
        projections.refresh(views, 0)
    assert views.public_entries_read == len(views.public)
    for seat in views.parts:
        assert projections.seats[seat].sequence >= len(views.public) - MAX_LAG - 1
        assert projections.refresh(views, seat).sequence == len(views.public)
    assert views.public_entries_read == len(views.public)


def test_parts_that_lie_with_their_entries_are_read_with_them_and_applied_once_their_seat_is_asked_for() -> (
    None
):
    views = GrowingViews(game())
    projections = GameProjections(GAME, views.parts)
    for length in range(len(views.public)):
        views.length = length + 1
        projections.refresh(views, 0)
        assert projections.seats[1].sequence in range(max(0, length - MAX_LAG), length + 2)
    for request in views.requests:
        assert [*request.parts] == [(seat, request.after) for seat in views.parts]
    assert {seat: projections.current(seat).sequence for seat in views.parts} == dict.fromkeys(
        views.parts, len(views.public)
    )


def test_P5_a_seat_is_brought_on_no_further_than_its_parts_were_read() -> None:
    views = GrowingViews(game())
    projections = GameProjections(GAME, [0])
    views.length = 9
    projections.apply(views.read_views([projections.next_page()])[0])
    projections = projections.with_seat(1)
    assert {seat: projections.current(seat).sequence for seat in (0, 1)} == {0: 9, 1: 0}
    assert projections.refresh(views, 1).sequence == 9


def test_a_seat_that_is_new_when_the_first_entries_are_gone_has_all_read_anew() -> None:
    views = GrowingViews(game())
    views.length = 30
    projections = GameProjections(GAME, [0])
    projections.refresh(views, 0)
    joined = projections.with_seat(1)
    assert joined is not projections
    assert {seat: joined.refresh(views, seat).sequence for seat in (1, 0)} == {0: 30, 1: 30}
    assert joined.with_seat(0) is joined


def forge_part(views: GrowingViews, after: int) -> int:
    """Give seat 0 the part of another seat in place of its first one after this number; returns its number."""
    at = next(at for at, (number, _) in enumerate(views.parts[0]) if number > after)
    number, _ = views.parts[0][at]
    views.parts[0][at] = number, views.parts[1][at][1]
    return number


def test_P6_a_part_that_can_not_be_believed_stops_its_seat_and_no_other() -> None:
    views = GrowingViews(game())
    forged = forge_part(views, after=2)
    views.length = len(views.public)
    projections = GameProjections(GAME, (0, 1))
    with pytest.raises(VerificationFailedError) as error:
        projections.refresh(views, 0)
    assert error.value.sequence == forged
    assert projections.refresh(views, 1).sequence == views.length


def test_P6_a_seat_that_is_far_behind_with_a_forged_part_does_not_stop_the_others() -> None:
    views = GrowingViews(game())
    projections = GameProjections(GAME, (0, 1))
    views.length = 2
    projections.refresh(views, 0)
    forged = forge_part(views, after=2)
    for length in (2 + 2 * MAX_LAG, len(views.public)):
        views.length = length
        assert projections.refresh(views, 1).sequence == length
    with pytest.raises(VerificationFailedError) as error:
        projections.current(0)
    assert error.value.sequence == forged


def test_P6_a_public_entry_that_does_not_fit_the_chain_stops_all_seats() -> None:
    views = GrowingViews(game())
    views.length = len(views.public)
    views.public[8] = _with_flipped_head(views.public[8])
    for seat in (0, 1):
        with pytest.raises(VerificationFailedError) as error:
            GameProjections(GAME, (0, 1)).refresh(views, seat)
        assert error.value.sequence == 9


def _with_flipped_head(entry: ViewEntry) -> ViewEntry:
    head = entry.shown.head
    return build_view_entry(entry.number, entry.shown.public, None, bytes([head[0] ^ 1]) + head[1:])
