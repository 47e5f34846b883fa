"""What the four rule pages say that isn't one of the options a game records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

TieBreak = Literal[
    "tickets made", "points of tickets made", "stations", "longest trail", "bonus", "merchandise"
]


class Page(NamedTuple):
    """docs/reference/rules/NAME.md."""

    longest: Literal["trail", "path"]  # SCORE-3
    ties: tuple[TieBreak, ...]  # TIE-1
    kept_together: bool  # all choose starting tickets at the same time (SETUP-2), or in turn (SETUP-4)
    decks_given: tuple[str, ...]  # that starting tickets come from, in order
    all_cards_together: bool  # a tunnel or sweep that the deck can't pay for shuffles all (MARKET-2)
    asks_for_cards: bool  # two cards on request (CARD-6); else one at a time
    paid_cards_are_discarded: bool  # or leave the game (ROUTE-6)


PAGES: Mapping[str, Page] = {
    "usa": Page(
        longest="trail",
        ties=("tickets made", "longest trail"),
        kept_together=True,
        decks_given=("regular",),
        all_cards_together=False,
        asks_for_cards=False,
        paid_cards_are_discarded=True,
    ),
    "europe": Page(
        longest="trail",
        ties=("points of tickets made", "stations", "bonus"),
        kept_together=True,
        decks_given=("long", "regular"),
        all_cards_together=True,
        asks_for_cards=False,
        paid_cards_are_discarded=True,
    ),
    "marklin": Page(
        longest="trail",
        ties=("tickets made", "merchandise"),
        kept_together=True,
        decks_given=("short", "long"),
        all_cards_together=False,
        asks_for_cards=False,
        paid_cards_are_discarded=True,
    ),
    "trains": Page(
        longest="path",
        ties=(),
        kept_together=False,
        decks_given=("regular",),
        all_cards_together=False,
        asks_for_cards=True,
        paid_cards_are_discarded=False,
    ),
}
