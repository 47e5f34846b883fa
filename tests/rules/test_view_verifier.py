"""Whatever a server falsifies in one viewer's view, that viewer's verifier notices (docs/reference/proof.md)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import CorruptDataError
from schemas.events import CommandRefused, DeckShuffled, HandDealt, SeatTaken
from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry
from schemas.stored.rows import pack, row_to_event, unpack
from schemas.trains.events import (
    CardDrawn,
    MarketFilled,
    TicketsKept,
    TicketsOffered,
    TicketsReturned,
    TunnelRevealed,
)
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.view_verifier import ViewVerifier
from tests.rules.sealed_games import GAME, SealedGame, fixed_games, private_part_of, verify_all

Shows = list[ViewEntry]
GOLDEN = Path(__file__).parents[1] / "golden"


@cache
def game() -> SealedGame:
    return next(fixed_games("europe", steps_most=300))


def shown_entries(viewer: Seat | None = 0) -> Shows:
    return game().view_entries(viewer)


def require_noticed(entries: Shows, number: int, viewer: Seat | None = 0) -> None:
    """The verifier fails at this entry, and not before."""
    with pytest.raises(VerificationFailedError) as error:
        verify_all(viewer, entries)
    assert error.value.sequence == number


def first_entry_with(kind: type, seat: Seat = 0, *, own: bool = True) -> int:
    """The number of the first entry with an event of this kind, of the verifier's seat or of any."""
    for number, entry in enumerate(game().entries, 1):
        for event in entry.events:
            if isinstance(event, kind) and (not own or getattr(event, "seat", None) == seat):
                return number
    raise AssertionError(f"no {kind.__name__} in the game")


def forged_view(
    number: int,
    viewer: Seat | None = 0,
    public: Callable[[list[object]], None] = lambda value: None,
    part: Callable[[list[object]], None] = lambda value: None,
) -> Shows:
    """What the viewer is shown, one entry of it changed, and heads that fit what is shown."""
    entries = shown_entries(viewer)
    at = entries[number - 1]
    new = _changed(at.shown.public, public)
    own = _changed(at.shown.private_part, part) if at.shown.private_part else None
    changed = build_view_entry(number, new, own)
    return [*entries[: number - 1], changed, *(_headless(entry) for entry in entries[number:])]


def _changed(data: bytes, change: Callable[[list[object]], None]) -> bytes:
    value = _lists(unpack(data))
    change(value)
    return bytes(pack(value))


def _lists(value: object) -> list:  # type: ignore[type-arg]  # any row in any row
    if isinstance(value, dict):
        return {key: _lists(row) for key, row in value.items()}  # type: ignore[return-value]
    return [_lists(part) for part in value] if isinstance(value, tuple) else value  # type: ignore[return-value]


def _headless(entry: ViewEntry) -> ViewEntry:
    return build_view_entry(entry.number, entry.shown.public, entry.shown.private_part)


def flip(run: object, at: int = 0) -> bytes:
    assert isinstance(run, bytes)
    return run[:at] + bytes([run[at] ^ 1]) + run[at + 1 :]


def test_P6_an_honest_server_is_verified_with_heads_and_without() -> None:
    for viewer in game().viewers():
        verify_all(viewer, shown_entries(viewer))
        verify_all(viewer, [_headless(entry) for entry in shown_entries(viewer)])


# -- cards ---------------------------------------------------------------------------------------


def test_P6_a_card_other_than_the_committed_one_is_noticed_by_all() -> None:
    number = first_entry_with(MarketFilled, own=False)

    def swap(value: list) -> None:  # type: ignore[type-arg]
        row = next(row for row in value[2] if row and row[0] == MarketFilled.code)
        row[2][0] = "red" if row[2][0] != "red" else "blue"

    for viewer in (None, 0):
        require_noticed(forged_view(number, viewer, public=swap), number, viewer)


@pytest.mark.parametrize("kind", [CardDrawn, TicketsOffered, HandDealt, TicketsReturned])
def test_P6_a_card_or_ticket_that_was_swapped_for_its_own_seat_is_noticed(kind: type) -> None:
    """Even if the server commits to the changed part."""
    number = first_entry_with(kind)
    fake = forged_view(number, part=lambda value: _swap(value[3]))
    require_noticed(fake, number)


def _swap(rows: object) -> None:
    assert isinstance(rows, dict)
    for row in rows.values():
        for at, value in enumerate(row):
            if at > 1 and isinstance(value, list) and value:
                value[-1] = "locomotive" if value[-1] != "locomotive" else "red"
            elif at > 1 and isinstance(value, str):
                row[at] = "locomotive" if value != "locomotive" else "red"


@pytest.mark.parametrize("kind", [MarketFilled, TunnelRevealed])
def test_P6_an_opening_that_is_changed_is_noticed(kind: type) -> None:
    number = first_entry_with(kind, own=False)

    def change(value: list) -> None:  # type: ignore[type-arg]
        value[5] = flip(value[5], 3)

    require_noticed(forged_view(number, public=change), number)


def test_P6_a_changed_opening_for_the_viewers_own_seat_is_noticed() -> None:
    number = first_entry_with(CardDrawn)

    def change(value: list) -> None:  # type: ignore[type-arg]
        value[4] = flip(value[4])

    require_noticed(forged_view(number, part=change), number)


def test_P6_a_leaf_that_is_changed_is_noticed_when_its_card_is_shown() -> None:
    def change(value: list) -> None:  # type: ignore[type-arg]
        value[4] = flip(value[4])  # of the top card

    entries = forged_view(2, public=change)
    first = next(e.number for e in shown_entries() if any(isinstance(x, HandDealt) for x in e.events))
    require_noticed(entries, first)


def test_P6_a_root_that_is_not_that_of_its_leaves_is_noticed() -> None:
    """Otherwise the log's root and the opened leaves could be of two different decks."""
    number = first_entry_with(DeckShuffled, own=False)

    def change(value: list) -> None:  # type: ignore[type-arg]
        row = next(row for row in value[2] if row and row[0] == DeckShuffled.code)
        row[2] = "ab" * 32

    require_noticed(forged_view(number, None, public=change), number, None)


@pytest.mark.parametrize("index", [4, 5])
def test_P6_too_few_and_too_many_salts_and_leaves_are_noticed(index: int) -> None:
    def longer(value: list) -> None:  # type: ignore[type-arg]
        value[index] += b"\0" * 16

    def shorter(value: list) -> None:  # type: ignore[type-arg]
        value[index] = value[index][:-16]

    number = first_entry_with(HandDealt)
    require_noticed(forged_view(number, public=longer), number)
    require_noticed(forged_view(number, public=shorter), number)


# -- own parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [CardDrawn, HandDealt, TicketsOffered, TicketsKept, TicketsReturned])
def test_P6_a_part_that_is_withheld_is_noticed_at_once(kind: type) -> None:
    number = first_entry_with(kind)
    entries = shown_entries()
    public = entries[number - 1].shown.public
    entries[number - 1] = build_view_entry(number, public, None, entries[number - 1].shown.head)
    require_noticed(entries, number)


def test_P6_a_withheld_refusal_is_noticed_by_the_next_part() -> None:
    number = first_entry_with(CommandRefused)
    entries = shown_entries()
    later = next(entry.number for entry in entries[number:] if entry.shown.private_part)
    entries[number - 1] = build_view_entry(number, entries[number - 1].shown.public, None)
    require_noticed(entries, later)


def test_P6_a_refusal_without_its_words_is_noticed() -> None:
    number = first_entry_with(CommandRefused)
    require_noticed(forged_view(number, part=lambda value: value[3].clear()), number)  # type: ignore[attr-defined]


def test_P6_a_refusal_in_other_words_is_noticed() -> None:
    def change(value: list) -> None:  # type: ignore[type-arg]
        value[3][0][3] = "because"

    number = first_entry_with(CommandRefused)
    require_noticed(forged_view(number, part=change), number)


def test_P6_a_part_that_contradicts_what_all_see_is_noticed() -> None:
    def change(value: list) -> None:  # type: ignore[type-arg]
        row = next(row for row in value[3].values() if row[0] == TicketsOffered.code)
        row[4] = 0  # how many must be kept

    number = first_entry_with(TicketsOffered)
    with pytest.raises(VerificationFailedError, match="contradict"):
        verify_all(0, forged_view(number, part=change))


def test_P6_another_seat_s_part_is_noticed() -> None:
    number = first_entry_with(HandDealt)
    entries, theirs = shown_entries(), private_part_of(game().sealed[number - 1], 1)
    entries[number - 1] = build_view_entry(number, entries[number - 1].shown.public, theirs)
    require_noticed(entries, number)


# -- the chain -----------------------------------------------------------------------------------


def test_P6_another_head_is_noticed() -> None:
    for number in (1, 7, len(shown_entries())):
        entries = shown_entries()
        one = entries[number - 1].shown
        entries[number - 1] = build_view_entry(number, one.public, one.private_part, flip(one.head))
        require_noticed(entries, number)


def test_P6_a_public_entry_that_differs_in_anything_has_another_head() -> None:
    def later(value: list) -> None:  # type: ignore[type-arg]
        value[1] += 1

    entries = forged_view(9, None, public=later)
    entries[8] = build_view_entry(9, entries[8].shown.public, None, shown_entries(None)[8].shown.head)
    require_noticed(entries, 9, None)


def test_P6_an_entry_that_is_dropped_or_swapped_is_noticed() -> None:
    for number in (2, 9, 20):
        entries = shown_entries()
        require_noticed(entries[: number - 1] + entries[number:], number + 1)
        bare = [_headless(entry) for entry in entries]
        require_noticed(bare[: number - 1] + bare[number:], number + 1)
        entries[number - 1], entries[number] = entries[number], entries[number - 1]
        require_noticed(entries, number + 1)


def test_P6_entries_that_are_numbered_anew_after_one_was_dropped_have_other_heads() -> None:
    entries = shown_entries(None)
    moved = [build_view_entry(e.number - 1, e.shown.public, None, e.shown.head) for e in entries[9:]]
    require_noticed([*entries[:8], *moved], 9, None)


def test_P6_an_entry_of_another_game_is_noticed() -> None:
    other = ViewVerifier("another", None)
    with pytest.raises(VerificationFailedError):
        other.verify(shown_entries(None)[0])
    with pytest.raises(VerificationFailedError, match=f"of the game {GAME}"):
        other.verify(_headless(shown_entries(None)[0]))
    another = next(fixed_games("usa")).view_entries(None)
    require_noticed([*shown_entries(None)[:8], another[8]], 9, None)


@pytest.mark.parametrize("secret", [7, "zz", {}, "ab"], ids=repr)
def test_P6_a_seat_secret_of_any_form_is_noticed_and_breaks_nothing(secret: object) -> None:
    def other(value: list[object]) -> None:
        rows: Any = value[3]
        next(row for row in rows.values() if row_to_event(row).type == SeatTaken.type)[5] = secret

    number = first_entry_with(SeatTaken)
    with pytest.raises((VerificationFailedError, CorruptDataError)):
        verify_all(0, forged_view(number, part=other))
