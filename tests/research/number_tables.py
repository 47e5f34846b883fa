"""What each number of actions and observations means, as tables of docs/how-to/research.md: `python -m tests.research.number_tables`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

import ledgerline
from schemas.commands import Command, Pass
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.field_types import COLORS
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.research.parts_form import FixedActions
from services.research.trains import FEATURES

PAGE: Final = Path(__file__).parents[2] / "docs" / "how-to" / "research.md"
COMMANDS: Final[tuple[type[Command], ...]] = (
    DrawBlind, DrawMarket, DrawTickets, KeepTickets, ClaimRoute, Pass, PayTunnel, DeclineTunnel, BuildStation, MovePassenger,
    RequestCards,
)  # fmt: skip
MEANINGS: Final[Mapping[str, str]] = {
    "command": "{commands}",
    "route": "its place on the board, from 1; of a passenger's journey the last one",
    "city": "its place, from 1: of a station, or where a passenger is put or sets out",
    "colour": "of the coloured cards that pay, from 1: {kinds}",
    "coloured": "how many they are",
    "locomotives": "how many pay",
    "plus_fours": "how many pay",
    "slot": "of the market, from 1",
    "tickets": "kept: the sum of 1, 2, 4 .. for the first, second, third .. of the offer; drawn: how many of the first deck, "
    "and ten times those of the second",
    "routes": "how many routes a passenger travels",
}


def action_ranges(ruleset: str) -> dict[str, str]:
    """By type of command its actions in the fixed list of four seats on the ruleset's own board."""
    actions = ledgerline.env(ruleset, seats=4).actions
    assert isinstance(actions, FixedActions)
    found, start = {}, 0
    for type_, commands in groupby(actions.commands, lambda command: str(command.type)):
        end = start + len(list(commands))
        found[type_] = spread(start, end)
        start = end
    return found


def spread(start: int, end: int) -> str:
    """Numbers from the first to one before the end."""
    return "-" if end == start else str(start) if end == start + 1 else f"{start}-{end - 1}"


def action_table() -> Iterator[str]:
    yield "| rules | actions, with four seats on the usual board |"
    yield "|---|---|"
    for ruleset in ("usa", "trains"):
        row = (f"{numbers} `{command}`" for command, numbers in action_ranges(ruleset).items())
        yield f"| `{ruleset}` | {', '.join(row)} |"


def feature_table() -> Iterator[str]:
    codes = ", ".join(f"{command.code} `{command.type}`" for command in COMMANDS)
    kinds: dict[tuple[str, ...], list[str]] = {}
    for ruleset in TRAIN_RULESETS:
        row = tuple(kind for kind in TRAIN_RULESETS[ruleset].rule_options.cards if kind in COLORS)
        kinds.setdefault(row, []).append(ruleset)
    named = "; ".join(f"{', '.join(names)}: {', '.join(row)}" for row, names in kinds.items())
    yield "| number | what; 0 for none |"
    yield "|---|---|"
    for feature in FEATURES:
        yield f"| `{feature}` | {MEANINGS[feature].format(commands=codes, kinds=named)} |"


def part_table(descriptions: Mapping[str, str]) -> Iterator[str]:
    layout = ledgerline.env("usa", seats=4).observation_form.layout
    yield "| part | usa, four seats | what |"
    yield "|---|---|---|"
    for part, place in layout.items():
        yield f"| `{part}` | {spread(place.start, place.stop)} | {descriptions[part]} |"


def with_tables(page: str) -> str:
    """The page with its tables made anew; what the parts of an observation are stands in the page."""
    described = dict(re.findall(r"^\| `(\w+)` \| [\d-]+ \| (.+) \|$", page, re.MULTILINE))
    for table in (action_table(), feature_table(), part_table(described)):
        head, *rest = table
        page = re.sub(
            rf"^{re.escape(head)}\n(\|.*\n)*", "\n".join([head, *rest, ""]), page, flags=re.MULTILINE
        )
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
