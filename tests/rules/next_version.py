"""A made-up second version of a ruleset, as it would be released: it is today's, and the first stays in the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.referee.games import RULESETS
from services.referee.games.found_games import RULESET_VERSIONS
from services.referee.games.state import Ruleset


def next_version(
    rules: str, monkeypatch: pytest.MonkeyPatch, change: Callable[[Ruleset], dict[str, Any]] = lambda _: {}
) -> tuple[Ruleset, Ruleset]:
    """Until the test ends new games of these rules have version 2, with a move limit of a millisecond and this change of its
    parts. Returns both versions."""
    first = RULESETS[rules]
    options = replace(first.rule_options, move_ms=1)
    second = replace(first, version=first.version + 1, rule_options=options, **change(first))
    monkeypatch.setitem(RULESETS, rules, second)
    versions = RULESET_VERSIONS
    monkeypatch.setitem(versions, (rules, second.version), second)
    return first, second
