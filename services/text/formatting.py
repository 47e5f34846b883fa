"""Parts of sentences: names, cards, numbers, and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from schemas.contract import Contract, field_names
from schemas.field_types import HIDDEN, Seat
from services.referee.games.state import GameState, TablePart
from services.runtime.visible_text import visible_text

MAX_LINE_LENGTH: Final = 400  # characters
SEAT_LETTERS: Final = "ABCDEFGH"


def format_game_time(game_time_ms: int) -> str:
    """A time since the game was opened as minutes, seconds and tenths: "04:31.5"."""
    return f"{game_time_ms // 60_000:02}:{game_time_ms // 1000 % 60:02}.{game_time_ms // 100 % 10}"


def seat_title(seat: Seat) -> str:
    """A seat as people read of it: by its letter, "seat A" for 0."""
    return f"seat {SEAT_LETTERS[seat]}"


def seat_name(state: GameState, seat: Seat) -> str:
    """The seat's name, or its letter where nobody sits."""
    return state.seats[seat].name or seat_title(seat)


def fill_in(state: GameState, sentence: str, contract: Contract) -> str:
    """A declared sentence with the fields of its command or event in place of the braces: a seat by its name, a hidden
    card as "a card"."""
    values = {name: getattr(contract, name) for name in field_names(contract.__class__)}
    for name, value in values.items():
        if value is HIDDEN:
            values[name] = "a card"
        elif name == "seat":
            values[name] = seat_name(state, value)
    return sentence.format_map(values)


def format_cards(counts: Mapping[str, int]) -> str:
    """Cards in words: "2 ace, 1 king"."""
    return ", ".join(f"{n} {card}" for card, n in counts.items())


def part_text(part: TablePart) -> str:
    """What is in a part of a table, as its viewer knows it: "3 cards: clubs-2, 2 hidden", a number, a text."""
    texts = [] if part.cards is None else [_cards_text(part.cards)]
    texts += [str(each) for each in (part.number, part.text) if each is not None]
    return "; ".join(texts)


def part_change(was: TablePart, now: TablePart) -> tuple[str, str]:
    """A part of a table before and after: of cards their number, and which went and came."""
    if was.cards is None or now.cards is None:
        return part_text(was), part_text(now)
    gone, new = (
        ", ".join(str(card) for card in (Counter(more) - Counter(less)).elements())
        for more, less in ((was.cards, now.cards), (now.cards, was.cards))
    )
    suffix = (f", without {gone}" if gone else "") + (f", with {new}" if new else "")
    return pluralize(len(was.cards), "card"), pluralize(len(now.cards), "card") + suffix


def _cards_text(cards: Sequence[str | None]) -> str:
    known = [card for card in cards if card is not None]
    hidden = [f"{len(cards) - len(known)} hidden"] if 0 < len(known) < len(cards) else []
    return pluralize(len(cards), "card") + (f": {', '.join([*known, *hidden])}" if known else "")


def pluralize(number: int, noun: str) -> str:
    """A number of things: "1 card", "3 cards"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def in_one_line(text: str) -> str:
    """Text from outside with visible characters only, cut to MAX_LINE_LENGTH."""
    shown = visible_text(text)
    return shown if len(shown) <= MAX_LINE_LENGTH else f"{shown[: MAX_LINE_LENGTH - 4]} ..."
