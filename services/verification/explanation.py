"""One entry of a log explained for an arbiter: states before and after by viewer, command, verdict, rule, alternatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

from schemas import commands
from schemas.commands import Command, write_command
from schemas.contract import Json
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import Event, write_event
from schemas.field_types import Seat
from schemas.refusals import EVERY_RULE
from schemas.stored.entries import Entry
from services.referee.games import fold_events, legal, redact_for
from services.referee.games.appliers import advance_clocks
from services.referee.games.found_games import GAMES
from services.referee.games.state import GameState, TablePart
from services.rulebook import extract_passages, read_pages
from services.text.sentences import describe_command, event_sentence, game_status, sender_name
from services.verification.log_check import verdict_doubt
from services.verification.replay import (
    REPLAY_ERRORS,
    Replay,
    ReplayedDecision,
    decide_again,
    read_replay_context,
    replaying,
    unreadable_entry,
)

Viewer: TypeAlias = Seat | Literal["referee", "public"]
# Of a game that isn't told by its parts, by the class of its own state: that state as far as its viewer knows it.
STATE_FORMS: Final[dict[type, Callable[[GameState], Json]]] = {}
SENDER_ONLY_FIELDS: Final = (  # what only the sender knows of its command
    "id", "seat", "speaker", "command", "wish", "accepted", "refusal", "as_the_rules_say", "rules", "legal",
)  # fmt: skip


class NarratedEvent(NamedTuple):
    """An event as a viewer was shown it, and its sentence; empty where the event needs none."""

    event: Event
    sentence: str


class ViewerPerspective(NamedTuple):
    """The entry as one viewer saw it."""

    before: GameState
    narrated_events: tuple[NarratedEvent, ...]
    after: GameState


class Explanation(NamedTuple):
    """One entry, with what an arbiter needs to judge it."""

    sequence: int
    entry: Entry
    perspectives: Mapping[Viewer, ViewerPerspective]  # the referee's, the public's, each seat's
    cited: tuple[RuleCitation, ...]  # the rule that refused it, then those of its kind of command
    alternatives: tuple[Command, ...]  # legal commands of the seat at that point
    doubt: str  # how the verdict differs from what the rules decide; empty if it doesn't

    @property
    def before(self) -> GameState:
        return self.perspectives["referee"].before

    @property
    def after(self) -> GameState:
        return self.perspectives["referee"].after


def explain(replay: Replay, sequence: int) -> Explanation:
    """The entry of this number. Raises InvalidInputError (there is none), or CorruptDataError (it, or one
    before it, can't be read or applied)."""
    if not 1 <= sequence <= len(replay.log):
        raise InvalidInputError(
            "--at", f"game {replay.game} has {len(replay.log)} entries, so there is no entry {sequence}"
        )
    states = _states_before(replay, sequence)
    try:
        with replaying():
            entry = replay.entry(sequence)
            perspectives = {
                viewer: apply_shown(state, entry.at, _visible_events(viewer, entry.events))
                for viewer, state in states.items()
            }
            before, ruleset = perspectives["referee"].before, perspectives["referee"].after.ruleset.name
            alternatives = tuple(_legal_alternatives(before, entry))
    except REPLAY_ERRORS as error:
        raise unreadable_entry(sequence, error) from None
    return Explanation(
        sequence=sequence,
        entry=entry,
        perspectives=perspectives,
        cited=cite(ruleset, entry),
        alternatives=alternatives,
        doubt=verdict_doubt(entry, _decision_on(replay, sequence, before, entry)),
    )


def _legal_alternatives(before: GameState, entry: Entry) -> list[Command]:
    """The legal commands of the seat that sent the command; none where no choice of that seat is pending."""
    seat = entry.seat
    return legal(before, seat) if seat is not None and seat < len(before.seats) else []


def _states_before(replay: Replay, sequence: int) -> dict[Viewer, GameState]:
    """The state before this entry, by viewer."""
    referee = replay.state_after(sequence - 1)
    seats = len(referee.seats) or len(replay.state_after(sequence).seats)
    viewers: dict[Viewer, GameState] = {
        viewer: GameState(replay.names) for viewer in ("public", *range(seats))
    }
    for position, (at_ms, events) in enumerate(replay.timed_events(sequence - 1), 1):
        for viewer, state in viewers.items():
            try:
                with replaying():
                    fold_events(state, at_ms, _visible_events(viewer, events))
            except REPLAY_ERRORS as error:
                raise CorruptDataError(
                    f"entry {position} can't be folded as {viewer} sees it: {error}"
                ) from None
    return {"referee": referee, **viewers}


def apply_shown(state: GameState, at_ms: int, events: Sequence[Event]) -> ViewerPerspective:
    """Apply what a viewer was shown of an entry to its state: first the time, then the events.

    The perspective has the state after the time alone, and the state given."""
    advance_clocks(state, at_ms)
    before = state.copy()
    narrated_events = []
    for event in events:
        fold_events(state, at_ms, (event,))
        narrated_events.append(NarratedEvent(event, event_sentence(state, event) or ""))
    return ViewerPerspective(before, tuple(narrated_events), state)


def _visible_events(viewer: Viewer, events: Sequence[Event]) -> list[Event]:
    if viewer == "referee":
        return list(events)
    redacted = (redact_for(None if viewer == "public" else viewer, event) for event in events)
    return [event for event in redacted if event is not None]


def _decision_on(replay: Replay, sequence: int, before: GameState, entry: Entry) -> ReplayedDecision:
    """The rules' decision on the entry's command, from the pass over the log if that came so far."""
    if sequence <= len(replay.redecided.entries):
        return replay.redecided.entries[sequence - 1].decision
    try:
        with replaying():
            context = read_replay_context(replay.game, replay.entry(1))
    except REPLAY_ERRORS as error:
        return ReplayedDecision(error=error)
    return decide_again(context, before.copy(), entry)


# -- as JSON -----------------------------------------------------------------------------------


def parts_of(state: GameState, viewer: Viewer) -> tuple[TablePart, ...] | None:
    """The parts of a table as its viewer knows it; None where the game describes none, or there is none yet."""
    if not state.game or state.ruleset.describe is None:
        return None
    return tuple(state.ruleset.describe(state, viewer if isinstance(viewer, int) else None))


def game_state_json(state: GameState, viewer: Viewer) -> Json:
    """A state as far as its viewer knows it; null is a card face down."""
    if not state.game:
        return {"state": "nothing"}
    parts = parts_of(state, viewer)
    return {
        "state": game_status(state),
        "at": state.at_ms,
        "turn": state.turn,
        "awaits": {str(seat): choice for seat, choice in state.pending_choices.items()},
        **(
            {"parts": [part._asdict() for part in parts]}
            if parts is not None
            else STATE_FORMS[type(state.own)](state)
        ),
    }


def explanation_json(explained: Explanation) -> Json:
    """An explained entry as a JSON object."""
    entry, refusal = explained.entry, explained.entry.refusal
    return {
        "number": explained.sequence,
        "at": entry.at,
        "id": shown_id(entry),
        "seat": entry.seat,
        "speaker": sender_name(explained.after, entry.seat),
        "command": write_command(entry.command),
        "wish": describe_command(explained.before, entry.seat, entry.command),
        "accepted": refusal is None,
        "refusal": {"rule": refusal.rule, "why": refusal.why} if refusal else None,
        "as_the_rules_say": not explained.doubt,
        "doubt": explained.doubt or None,
        "rules": [citation._asdict() for citation in explained.cited],
        "legal": [write_command(command) for command in explained.alternatives],
        "seen": {
            str(viewer): _perspective_json(perspective, viewer)
            for viewer, perspective in explained.perspectives.items()
        },
    }


def shown_id(entry: Entry) -> str | None:
    """The id of a seat's command. That of a system command, which the gateway derives from a client's key, is left out."""
    return None if entry.seat is None else entry.id


def seat_explanation_json(explained: Explanation, seat: Seat) -> Json:
    """An explained entry as one seat may read it while the game runs.

    Another's command is left out, and how a verdict is wrong: that may reveal hidden cards."""
    payload = explanation_json(explained)
    for field in ("doubt", *(() if explained.entry.seat == seat else SENDER_ONLY_FIELDS)):
        del payload[field]
    payload["seen"] = {str(seat): payload["seen"][str(seat)]}
    return payload


def _perspective_json(perspective: ViewerPerspective, viewer: Viewer) -> Json:
    return {
        "before": game_state_json(perspective.before, viewer),
        "events": [write_event(narrated.event) for narrated in perspective.narrated_events],
        "sentences": [narrated.sentence for narrated in perspective.narrated_events if narrated.sentence],
        "after": game_state_json(perspective.after, viewer),
    }


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
