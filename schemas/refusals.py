"""Why a command is refused: the ids of the rules, and of this contract, each in one sentence.

The ids of the rules are those that every rule page, audit and test name cites. The
contract's own ids (SHAPE, SIZE, TOKEN, RATE, ID, BUSY, FULL, WAIT, LEVEL, POISON, GAME, DISPUTE) are about messages,
not about play.
"""

from __future__ import annotations

from collections import ChainMap
from typing import Final

from schemas.errors import LedgerlineError

GAME_RULES: Final[dict[str, str]] = {
    "TURN-1": "A seat acts only in its turn.",
    "TURN-2": "A turn is one of the actions that this game's rules have.",
    "TURN-3": "While a choice is open the seat answers it and does nothing else.",
    "CLOCK-2": "A seat whose time is over takes no further part.",
    "CONDUCT-3": "A seat that left, or was removed, is skipped from then on.",
}

MESSAGE_RULES: Final[dict[str, str]] = {
    "SHAPE-1": "Invalid request: a field is missing, unknown, or not of its form.",
    "SIZE-1": "The message is larger than allowed.",
    "TOKEN-1": "The token isn't valid for this game and seat.",
    "RATE-1": "Too many commands in too short a time.",
    "ID-1": "The id was sent before, with another command: its verdict stands, and this command has none.",
    "BUSY-1": "So many commands wait that no more are taken in; send it again in a moment.",
    "FULL-1": "The engine is nearly full: games go on, and none is created until there is room.",
    "WAIT-1": "There is no verdict yet; ask again with the same command id.",
    "LEVEL-1": "The engine can't make a command as sure as was asked; nothing was sent.",
    "POISON-1": "The command broke the referee and was put aside; the game goes on, an operator sees it.",
    "SUGGEST-1": "This table lets nobody ask for suggestions while it is played, or no bot has any for its game.",
    "OPERATOR-1": "By its settings, this server lets nobody do this, or its operator alone.",
    "GAME-1": "There is no such game.",
    "GAME-2": "The game hasn't started.",
    "GAME-3": "The game is over.",
    "GAME-4": "The seat isn't free, or the name: another at this table, or a bot, has one that looks like it.",
    "GAME-5": "A game starts once, when every seat is taken.",
    "GAME-6": "The game can't be created like this.",
    "GAME-7": "The game goes on: what it hides is shown when it is over.",
    "GAME-8": "A host ends a game only after nobody has acted in it for long: ten minutes, or half the time for a move.",
    "GAME-9": "A host frees a seat before the start only, and where nobody has seen its hand.",
    "UNDO-1": "A seat takes back its last move only where the table allows it, nobody has acted since, and it showed nothing hidden.",
    "UNDO-2": "Whoever else plays answers once when a seat asks to take its move back.",
    "DISPUTE-1": "There is no such dispute.",
    "DISPUTE-2": "A seat disputes only so many moves of a game, and has only so many wait for an answer.",
}

BROUGHT_RULES: Final[dict[str, str]] = {}  # of games that bring their own, by rule id
EVERY_RULE: Final = ChainMap(
    {**GAME_RULES, **MESSAGE_RULES}, BROUGHT_RULES
)  # that this process knows now, in one sentence each
BROUGHT_PAGES: Final[dict[str, str]] = {}  # by ruleset: the rule pages of games that bring their own


def is_rule_of_play(rule: str) -> bool:
    """Whether the rule is about play, in any game, and not about messages."""
    return rule in GAME_RULES or rule in BROUGHT_RULES


class CommandRefusedError(LedgerlineError):
    """A rule refused a command. The state is as it was."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(f"{rule}: {reason}")
        self.rule, self.reason = rule, reason

    def __reduce__(self) -> tuple[type[CommandRefusedError], tuple[str, str]]:
        """So that it comes whole from another process."""
        return type(self), (self.rule, self.reason)


def require(condition: object, rule: str, reason: str) -> None:
    """Raises CommandRefusedError, naming the rule, unless the condition holds."""
    if not condition:
        raise CommandRefusedError(rule, reason)
