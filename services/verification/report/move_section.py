"""The disputed move on the arbiter's page: what was asked and answered, who knew and saw what, what it changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from schemas.commands import write_command
from schemas.events import write_event
from schemas.field_types import Seat
from schemas.trains import commands as train_commands
from services.referee.games.seat_state import SeatState
from services.referee.games.state import GameState, TablePart
from services.referee.games.trains.train_state import TrainGame
from services.text.commands import describe_command, group_commands, sender_name
from services.text.formatting import (
    city_name,
    format_cards,
    format_game_time,
    part_change,
    part_text,
    pluralize,
)
from services.verification.explanation import Explanation, Viewer, parts_of, shown_id
from services.verification.report.board_map import BoardMap, board_map
from services.verification.rule_citations import RuleCitation

MAX_OPEN_GROUPS: Final = 12  # groups of alternatives that stand open
MAX_NEXT_CARDS: Final = 5  # cards of the deck that are shown: a draw takes no more of them


class Verdict(NamedTuple):
    """The verdict, and whether the rules give the same."""

    outcome: str
    details: str
    rules: str
    doubt: str
    consequences: Sequence[str]


class ShownSentences(NamedTuple):
    """The sentences of the entry that a viewer was shown; events may need none."""

    sentences: Sequence[str]
    has_events: bool


class Alternatives(NamedTuple):
    """The legal commands of the seat at that point, in groups."""

    total: str
    ways: Sequence[tuple[str, str]]
    is_open: bool


class KnowledgeRow(NamedTuple):
    """Knowledge of one thing by viewer; each cell has one part or more. One cell stands for all who knew the same."""

    name: str
    cells: Sequence[Sequence[str]]

    @property
    def is_same_for_all(self) -> bool:
        return len(self.cells) == 1


class Change(NamedTuple):
    """What a seat has, or a part of the table, before and after."""

    name: str
    values: Sequence[tuple[object, object]]


class Changes(NamedTuple):
    """Changes by the entry, under a heading; no rows where there are none, or the whole state is new."""

    rows: Sequence[Change]
    text: str
    heading: Sequence[str] = ("", "points", "cars", "cards", "tickets", "offered", "routes")


class MoveSection(NamedTuple):
    """The section about one entry."""

    title: str
    verdict: Verdict
    refused_by: Sequence[RuleCitation]
    other_rules: Sequence[RuleCitation]
    map_title: str
    map: BoardMap | None  # of a game that is played on a board
    seats: Sequence[str]
    viewers: tuple[str, ...]
    knowledge: Sequence[KnowledgeRow]
    shown: Sequence[ShownSentences]  # one a viewer, or one for all where they are equal
    alternatives: Alternatives | None
    no_alternatives: str  # why there are none
    changes: Changes
    raw: str  # the entry as JSON


def move_section(explanation: Explanation) -> MoveSection:
    """The section about an explained entry."""
    entry, before, cited = explanation.entry, explanation.before, explanation.cited
    refusals, laid = 0 if entry.refusal is None else 1, before if before.game else explanation.after
    return MoveSection(
        title=f"Entry {explanation.sequence}: {sender_name(explanation.after, entry.seat)}"
        f" wants to {describe_command(before, entry.seat, entry.command)}",
        verdict=_verdict(explanation),
        refused_by=cited[:refusals],
        other_rules=cited[refusals:],
        map_title="The table before it" if before.game else "The table that it laid",
        map=board_map(laid, *_marked_places(explanation)) if laid.ruleset.default_board else None,
        seats=seat_names(laid),
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
        case train_commands.ClaimRoute(route=route, passenger=passenger):
            return (route,), (passenger,) if passenger else ()
        case train_commands.PayTunnel() | train_commands.DeclineTunnel() if explanation.before.own.tunnel:
            return (explanation.before.own.tunnel.route,), ()
        case train_commands.BuildStation(city=name):
            return (), (name,)
        case train_commands.MovePassenger(city=name, path=path):
            return path, (name,)
    return (), ()


def seat_names(state: TrainGame) -> list[str]:
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


# -- what each viewer knew, as a table --------------------------------------------------------


def knowledge_rows(explanation: Explanation) -> list[KnowledgeRow]:
    """The rows of what each viewer knew before the entry: of the market, of the deck, and of each seat."""
    if not explanation.before.game:
        return []
    if explanation.before.ruleset.describe is not None:
        return _parts_rows(explanation)
    states = [perspective.before for perspective in explanation.perspectives.values()]
    return [
        _row("Market", [[_market_text(state)] for state in states]),
        _row("Deck", [[_deck_text(state)] for state in states]),
        *(
            _row(sender_name(explanation.before, seat), [_holding(state, seat) for state in states])
            for seat in range(len(explanation.before.seats))
        ),
    ]


def _parts_rows(explanation: Explanation) -> list[KnowledgeRow]:
    """A row for each part of the table before the entry, as far as each viewer knew it."""
    known = [
        _parts_by_title(perspective.before, viewer)
        for viewer, perspective in explanation.perspectives.items()
    ]
    return [
        _row(title, [[part_text(parts.get(title, part))] for parts in known])
        for title, part in known[0].items()
    ]


def _parts_by_title(state: GameState, viewer: Viewer) -> dict[str, TablePart]:
    """The parts of a table by whose they are and what the game calls them."""
    return {
        part.name if part.seat is None else f"{sender_name(state, part.seat)}: {part.name}": part
        for part in parts_of(state, viewer) or ()
    }


def _row(name: str, cells: Sequence[Sequence[str]]) -> KnowledgeRow:
    """A row of one cell a viewer, or of one cell where they are all equal."""
    return KnowledgeRow(name, cells[:1] if all(cell == cells[0] for cell in cells) else cells)


def _market_text(state: TrainGame) -> str:
    return ", ".join(card or "-" for card in state.own.market) or "none"


def _deck_text(state: TrainGame) -> str:
    table = state.own
    text = pluralize(len(table.deck), "card")
    next_cards = [card for card in reversed(table.deck[-MAX_NEXT_CARDS:]) if card is not None]
    return f"{text}; next: {', '.join(next_cards)}" if next_cards else text


def _holding(state: TrainGame, seat: Seat) -> list[str]:
    seat_state = state.seats[seat]
    known_tickets = [ticket for ticket in seat_state.own.tickets if ticket is not None]
    offered = [ticket for ticket in seat_state.own.offer if ticket is not None]
    parts = [
        f"{pluralize(seat_state.own.cards, 'card')}{_hand_text(seat_state)}",
        f"{pluralize(len(seat_state.own.tickets), 'ticket')}{_tickets_text(state, known_tickets)}",
    ]
    if seat_state.own.offer:
        parts.append(f"is offered {len(seat_state.own.offer)}{_tickets_text(state, offered)}")
    return parts


def _hand_text(seat_state: SeatState) -> str:
    """The cards that the viewer knows of, and how many more there are."""
    known_cards = {card: n for card, n in seat_state.own.hand.items() if card is not None and n > 0}
    hidden = seat_state.own.cards - sum(known_cards.values())
    parts = [format_cards(known_cards)] if known_cards else []
    parts += [f"{hidden} hidden"] if hidden else []
    return f": {', '.join(parts)}" if known_cards else ""


def _tickets_text(state: TrainGame, tickets: Sequence[str]) -> str:
    board_tickets = [state.own.board.tickets[ticket] for ticket in tickets]
    texts = (f"{city_name(state, t.a)} - {city_name(state, t.b)} ({t.points})" for t in board_tickets)
    return f": {', '.join(texts)}" if board_tickets else ""


# -- what the move changed, as a table ---------------------------------------------------------


def state_changes(explanation: Explanation) -> Changes:
    """Each seat's counts before and after the entry, and for whom the game waits."""
    before, after = explanation.before, explanation.after
    if not before.game:
        return Changes((), "It laid the table.")
    if explanation.entry.refusal and before.pending_choices == after.pending_choices:
        return Changes((), f"Nothing but the time. {_pending_text(before, after)}")
    if after.ruleset.describe is not None:
        was, now = (_parts_by_title(state, "referee") for state in (before, after))
        changed = [
            Change(title, [part_change(was.get(title, TablePart(part.name)), part)])
            for title, part in now.items()
            if was.get(title) != part
        ]
        return Changes(changed, _pending_text(before, after), ("", "the part"))
    rows = [
        Change(sender_name(after, seat), [*zip(_seat_counts(old), _seat_counts(new), strict=True)])
        for seat, (old, new) in enumerate(zip(before.seats, after.seats, strict=True))
    ]
    return Changes(rows, _pending_text(before, after))


def _seat_counts(seat_state: SeatState) -> tuple[int, ...]:
    lists = (seat_state.own.tickets, seat_state.own.offer, seat_state.own.routes)
    return (
        seat_state.own.running_score,
        seat_state.own.cars,
        seat_state.own.cards,
        *(len(values) for values in lists),
    )


def _pending_text(before: TrainGame, after: TrainGame) -> str:
    def pending_seats(state: TrainGame) -> str:
        return (
            ", ".join(f"{sender_name(state, s)} ({choice})" for s, choice in state.pending_choices.items())
            or "nobody"
        )

    was, now = pending_seats(before), pending_seats(after)
    if was == now:
        return f"The table waits for {now}, as before."
    return f"The table waited for {was}; now it waits for {now}."
