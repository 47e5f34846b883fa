"""The features that the golden games must have between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from schemas.game_options import ExitReason
from schemas.published_contracts import COMMANDS, EVENTS
from schemas.refusals import BROUGHT_RULES, GAME_RULES
from services.referee.games import RULESETS
from services.referee.games.state import Ruleset
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.golden.features import DETECTORS, SHARED

ENDS: Final = {
    **dict.fromkeys(("usa", "europe", "marklin"), ("last turns", "all passed", "out of time", "all gone")),
    "trains": ("last turns", "no change", "out of time", "all gone"),
}
CHOICES: Final = ("action", "second card", "tickets", "mix", "tunnel")
LIMITS: Final = {
    "clock": CHOICES,
    "clock of several": ("action",),
    "move": ("action", "tickets", "mix"),
    "move of several": ("action", "second card", "tickets", "tunnel"),
}
NEVER_REFUSED: Final = ("create_game",)  # in a log: a refused creation makes no log
NEVER_LOGGED: Final = ("fork_game",)  # the log holds the creation that the fork becomes
KEPT: Final = [command for command in COMMANDS if command.type not in NEVER_LOGGED]


def wanted_of_any(ruleset: Ruleset) -> Iterator[str]:
    """The features of a game that says nothing of its own ends: each number of seats, and each way out."""
    name, rule_options = ruleset.name, ruleset.rule_options
    for seats in range(rule_options.seats_least, rule_options.seats_most + 1):
        yield f"{name} for {seats}"
    yield from (f"{name} gone: {why}" for why in get_args(ExitReason))
    yield from (f"{name} ends: {when}" for when in ("early", "at its end"))


def wanted() -> set[str]:
    """Every feature that the golden games must have between them."""
    return {
        *(name for detectors in DETECTORS.values() for name in detectors),
        *(f"event: {event.type}" for event in EVENTS),
        *(f"command accepted: {command.type}" for command in KEPT),
        *(f"command refused: {command.type}" for command in KEPT if command.type not in NEVER_REFUSED),
        *(f"refused by {rule}" for rule in (*GAME_RULES, *BROUGHT_RULES)),
        *(
            feature
            for rules in RULESETS.values()
            if rules.name not in ENDS
            for feature in wanted_of_any(rules)
        ),
        *(f"out of time for a {what}: {choice}" for what, choices in LIMITS.items() for choice in choices),
        *(f"{rules} ends: {reason}" for rules, reasons in ENDS.items() for reason in reasons),
        *(f"{rules} all gone: {why}" for rules in ENDS for why in ("left", "removed")),
        *(f"{r.name} tie: {name}" for r in TRAIN_RULESETS.values() for name in r.parts.tie_breaks),
        *(f"{rules} tie: {SHARED}" for rules in TRAIN_RULESETS),
    }
