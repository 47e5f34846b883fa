"""Colours and error codes of the AI-MAS class."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from schemas.trains.boards.aimas import COLORS
from schemas.trains.field_types import LOCOMOTIVE


class TTRCons:
    """The constants: what a method returns when it failed, and the colours, one character each."""

    WRONG_CONTENT = -1  # a payment, a city or a ticket that doesn't suit
    WRONG_DEMAND = -2  # a rule forbids it now
    REJECTED = -3  # it isn't this player's turn (any more)
    UNKNOWN_COMMAND = -4  # this game has no such action
    NOT_SENT = -5
    NO_ANSWER = -6
    UNEXPECTED_ANSWER = -7

    ENGINE = "e"
    GRAY = "*"
    NONE = "0"
    COLORS = "pwbyorgn"


CARD_OF: Final[Mapping[str, str]] = MappingProxyType(
    {**{character: COLORS[character] for character in TTRCons.COLORS}, TTRCons.ENGINE: LOCOMOTIVE}
)
COLOR_CHARACTERS: Final[Mapping[str, str]] = MappingProxyType(
    {**{color: character for character, color in COLORS.items()}, LOCOMOTIVE: TTRCons.ENGINE}
)

_RULES_BY_CODE: Final[Mapping[int, str]] = {
    TTRCons.WRONG_CONTENT: """SHAPE-1 SIZE-1 SETUP-4 TICKET-3 ROUTE-2 ROUTE-7 FERRY-1 TUNNEL-3 STATION-2 STATION-3
        PASSENGER-1 PASSENGER-2""",
    TTRCons.WRONG_DEMAND: """SETUP-2 SETUP-3 TURN-3 TURN-4 CARD-1 CARD-2 CARD-4 ROUTE-1 ROUTE-3 ROUTE-4 DOUBLE-1 DOUBLE-2
        TICKET-1 STATION-1""",
    TTRCons.REJECTED: "TURN-1 CLOCK-2 CONDUCT-3 TOKEN-1 GAME-2 GAME-3 GAME-5",
    TTRCons.UNKNOWN_COMMAND: "TURN-2",
    TTRCons.NOT_SENT: "RATE-1 BUSY-1 FULL-1 LEVEL-1 GAME-1",
    TTRCons.NO_ANSWER: "WAIT-1",
    TTRCons.UNEXPECTED_ANSWER: "ID-1 POISON-1 OPERATOR-1 GAME-4 GAME-6 GAME-7 GAME-8 GAME-9 DISPUTE-1 DISPUTE-2 SUGGEST-1 UNDO-1 UNDO-2",
}
CODE_BY_RULE: Final[Mapping[str, int]] = MappingProxyType(
    {rule: code for code, rules in _RULES_BY_CODE.items() for rule in rules.split()}
)


def code_of(rule: str) -> int:
    """The return code for a refusal by this rule; a rule that isn't in the table is unexpected."""
    return CODE_BY_RULE.get(rule, TTRCons.UNEXPECTED_ANSWER)
