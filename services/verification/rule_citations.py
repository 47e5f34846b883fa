"""The rules that concern an entry, in words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from schemas import commands
from schemas.commands import Command
from schemas.refusals import EVERY_RULE
from schemas.stored.entries import Entry
from services.referee.games.found_games import GAMES
from services.rulebook import extract_passages, read_pages


class RuleCitation(NamedTuple):
    """A rule: its id, its sentence, and the passage on the ruleset's page, in Markdown."""

    rule: str
    sentence: str
    passage: str


def cite(ruleset: str, entry: Entry) -> tuple[RuleCitation, ...]:
    """The rules that concern an entry: the one that refused it, then those of its command in this ruleset."""
    pages = _rule_pages()
    refusal = entry.refusal
    refused_by = () if refusal is None else (refusal.rule,)
    rules = dict.fromkeys((*refused_by, *rules_on(ruleset, entry.command)))
    return tuple(
        RuleCitation(rule, EVERY_RULE.get(rule, ""), pages.get(rule, {}).get(ruleset, "")) for rule in rules
    )


def rules_on(ruleset: str, command: Command) -> tuple[str, ...]:
    """The rules of this ruleset that decide on such a command: on a game's own, all that the game refuses by."""
    rules = RULES_BY_COMMAND.get(type(command), ())
    if isinstance(command.code, str):
        own_game = (game for game in GAMES.values() if ruleset in (each.name for each in game.rulesets))
        rules = tuple(chain.from_iterable(game.rules for game in own_game))
    return tuple(rule for rule in rules if has_rule(ruleset, rule))


def has_rule(ruleset: str, rule: str) -> bool:
    """Whether the ruleset's page has this rule."""
    return ruleset in _rule_pages().get(rule, {})


def known_rules() -> frozenset[str]:
    """The rules of all rulesets, and those of the server."""
    return frozenset((*EVERY_RULE, *_rule_pages()))


@cache
def _rule_pages() -> Mapping[str, Mapping[str, str]]:
    return extract_passages(read_pages())


RULES_BY_COMMAND: Final[
    dict[type[Command], tuple[str, ...]]
] = {  # that decide on each command; a family adds its own
    commands.Pass: ("TURN-4",),
    commands.Leave: ("CONDUCT-3",),
    commands.EndGame: ("END-4",),
    commands.FreeSeat: ("GAME-9",),
    commands.CallTime: ("CLOCK-1", "CLOCK-2"),
}
