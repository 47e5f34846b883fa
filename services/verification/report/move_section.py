"""The disputed move on the arbiter's page: what was asked, what was answered, who saw what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from schemas import commands
from schemas.commands import write_command
from schemas.events import write_event
from services.referee.rules import GameState
from services.text.commands import describe_command, group_commands, sender_name
from services.text.formatting import format_game_time, pluralize
from services.verification.explanation import Explanation, Viewer
from services.verification.explanation_json import shown_id
from services.verification.report.board_map import BoardMap, board_map
from services.verification.report.knowledge_table import KnowledgeRow, knowledge_rows
from services.verification.report.state_changes import Changes, state_changes
from services.verification.rule_citations import RuleCitation

MAX_OPEN_GROUPS: Final = 12  # groups of alternatives that stand open


class Verdict(NamedTuple):
    """What was decided, and whether the rules decide the same."""

    outcome: str
    details: str
    rules: str
    doubt: str
    consequences: Sequence[str]


class ShownSentences(NamedTuple):
    """What a viewer was shown of the entry; events may need no sentence."""

    sentences: Sequence[str]
    has_events: bool


class Alternatives(NamedTuple):
    """What the seat could have done instead, in groups."""

    total: str
    ways: Sequence[tuple[str, str]]
    is_open: bool


class MoveSection(NamedTuple):
    """The section about one entry."""

    title: str
    verdict: Verdict
    refused_by: Sequence[RuleCitation]
    other_rules: Sequence[RuleCitation]
    map_title: str
    map: BoardMap
    seats: Sequence[str]
    viewers: tuple[str, ...]
    knowledge: Sequence[KnowledgeRow]
    shown: Sequence[ShownSentences]  # one a viewer, or one for all where they are equal
    alternatives: Alternatives | None
    no_alternatives: str  # why there are none
    changes: Changes
    raw: str  # the entry as JSON


def move_section(explanation: Explanation) -> MoveSection:
    """What the page shows of an explained entry."""
    entry, before, cited = explanation.entry, explanation.before, explanation.cited
    refusals = 0 if entry.refusal is None else 1
    return MoveSection(
        title=f"Entry {explanation.sequence}: {sender_name(explanation.after, entry.seat)}"
        f" wants to {describe_command(before, entry.seat, entry.command)}",
        verdict=_verdict(explanation),
        refused_by=cited[:refusals],
        other_rules=cited[refusals:],
        map_title="The table before it" if before.game else "The table that it laid",
        map=board_map(before if before.game else explanation.after, *_marked_places(explanation)),
        seats=seat_names(before if before.game else explanation.after),
        viewers=tuple(_viewer_name(explanation, viewer) for viewer in explanation.perspectives),
        knowledge=knowledge_rows(explanation),
        shown=_shown_sentences(explanation),
        alternatives=_alternatives(explanation),
        no_alternatives=_no_alternatives(explanation),
        changes=state_changes(explanation),
        raw=_raw_entry(explanation),
    )


def _verdict(explanation: Explanation) -> Verdict:
    entry, refusal, rules = explanation.entry, explanation.entry.refusal, explanation.after.ruleset
    time_text = f"{format_game_time(entry.at)} after the game was opened"
    return Verdict(
        outcome="Accepted" if refusal is None else "Refused",
        details=f", {time_text}." if refusal is None else f" by {refusal.rule}, {time_text}: {refusal.why}.",
        rules=f"version {rules.version} of the rules {rules.name}, with which the game began",
        doubt=explanation.doubt,
        consequences=_sentences(explanation, "referee") if refusal is None else (),
    )


def _marked_places(explanation: Explanation) -> tuple[Sequence[str], Sequence[str]]:
    """The routes and the cities that the command names."""
    match explanation.entry.command:
        case commands.ClaimRoute(route=route, passenger=passenger):
            return (route,), (passenger,) if passenger else ()
        case commands.PayTunnel() | commands.DeclineTunnel() if explanation.before.tunnel:
            return (explanation.before.tunnel.route,), ()
        case commands.BuildStation(city=name):
            return (), (name,)
        case commands.MovePassenger(city=name, path=path):
            return path, (name,)
    return (), ()


def seat_names(state: GameState) -> list[str]:
    """The seats' names, for the legend of a map."""
    return [seat_state.name or "free" for seat_state in state.seats]


def _viewer_name(explanation: Explanation, viewer: Viewer) -> str:
    return sender_name(explanation.after, viewer) if isinstance(viewer, int) else f"The {viewer}"


def _shown_sentences(explanation: Explanation) -> list[ShownSentences]:
    shown = [
        ShownSentences(_sentences(explanation, viewer), bool(perspective.narrated_events))
        for viewer, perspective in explanation.perspectives.items()
    ]
    return shown[:1] if all(each == shown[0] for each in shown) else shown


def _sentences(explanation: Explanation, viewer: Viewer) -> list[str]:
    events = explanation.perspectives[viewer].narrated_events
    return [narrated.sentence for narrated in events if narrated.sentence]


# -- what else, and what came of it ------------------------------------------------------------


def _alternatives(explanation: Explanation) -> Alternatives | None:
    seat = explanation.entry.seat
    if seat is None or not explanation.alternatives:
        return None
    groups = group_commands(explanation.before, seat, explanation.alternatives)
    return Alternatives(
        total=pluralize(len(explanation.alternatives), "legal command"),
        ways=[(kind, "; ".join(ways)) for kind, ways in groups],
        is_open=len(groups) <= MAX_OPEN_GROUPS,
    )


def _no_alternatives(explanation: Explanation) -> str:
    if explanation.entry.seat is None:
        return "The server sent it: it has no choice of moves."
    pending = ", ".join(
        f"{sender_name(explanation.before, s)} ({c})" for s, c in explanation.before.pending_choices.items()
    )
    return f"Nothing: the table didn't wait for it. It waited for {pending or 'nobody'}."


def _raw_entry(explanation: Explanation) -> str:
    entry = explanation.entry
    fields: Mapping[str, object] = {
        "id": shown_id(entry),
        "seat": entry.seat,
        "at": entry.at,
        "command": write_command(entry.command),
        "events": [write_event(event) for event in entry.events],
    }
    return json.dumps(fields, ensure_ascii=False, indent=1)
