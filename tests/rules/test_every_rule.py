"""Every rule of the `usa` ruleset has a test that is named by its id."""

from __future__ import annotations

import re
from pathlib import Path

RULES = [
    "SETUP-1",
    "SETUP-2",
    "SETUP-3",
    "TURN-1",
    "TURN-2",
    "TURN-3",
    "TURN-4",
    "CARD-1",
    "CARD-2",
    "CARD-4",
    "CARD-5",
    "MARKET-1",
    "MARKET-2",
    "ROUTE-1",
    "ROUTE-2",
    "ROUTE-3",
    "ROUTE-4",
    "ROUTE-5",
    "ROUTE-6",
    "DOUBLE-1",
    "DOUBLE-2",
    "TICKET-1",
    "TICKET-2",
    "END-1",
    "END-3",
    "END-4",
    "CLOCK-1",
    "CLOCK-2",
    "SCORE-1",
    "SCORE-2",
    "SCORE-3",
    "TIE-1",
    "CONDUCT-1",
    "CONDUCT-2",
    "CONDUCT-3",
]


def test_every_rule_of_usa_has_a_test_named_by_its_id() -> None:
    named = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        for word, number in re.findall(r"^def test_([A-Z]+)_(\d+)_\w+\(", file.read_text(), re.MULTILINE):
            named.add(f"{word}-{number}")
    assert named == set(RULES)
