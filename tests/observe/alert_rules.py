"""The alert rules of deploy/observe, and when each fires in a run."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import yaml

from tests.deploy.compose import ROOT
from tests.observe.promql import Moment, evaluate
from tests.observe.series import Labels, Recording

OBSERVE: Final = ROOT / "deploy" / "observe"
UNITS: Final = {"s": 1, "m": 60}


class Rule(NamedTuple):
    """An alert: what must hold, and for how long."""

    name: str
    expression: str
    for_s: float
    severity: str
    summary: str


def read_rules() -> list[Rule]:
    """The rules of alerts.yml."""
    document: Any = yaml.safe_load((OBSERVE / "alerts.yml").read_text())
    return [
        Rule(
            rule["alert"],
            rule["expr"],
            _seconds(rule.get("for", "0s")),
            rule["labels"]["severity"],
            rule["annotations"]["summary"],
        )
        for group in document["groups"]
        for rule in group["rules"]
    ]


def _seconds(text: str) -> float:
    matched = re.fullmatch(r"(\d+)([sm])", text)
    assert matched, text
    return int(matched[1]) * UNITS[matched[2]]


def first_firing_s(rule: Rule, run: Recording) -> float | None:
    """When the alert first fires: its expression has held for the same labels for long enough. None: never."""
    active_since: dict[Labels, float] = {}
    for index, at_s in enumerate(run.times_s):
        value = evaluate(rule.expression, Moment(run, index))
        assert not isinstance(value, float), rule.name
        active_since = {labels: active_since.get(labels, at_s) for labels in value}
        if any(at_s - since_s >= rule.for_s for since_s in active_since.values()):
            return at_s
    return None
