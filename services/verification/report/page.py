"""The page for an arbiter: one HTML file that holds all it shows, runs no script and asks no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markupsafe import Markup

from schemas.commands import Command, write_command
from schemas.errors import CorruptDataError
from schemas.events import GameCreated, SeatScore, TurnStarted, write_event
from schemas.registry import OfItsGame
from schemas.stored.entries import Entry
from services.referee.games import fold_events
from services.referee.games.state import GameState, SeatState, TablePart
from services.runtime.shipped_files import html_templates
from services.text.formatting import (
    format_game_time,
    part_change,
    part_text,
    pluralize,
    seat_name,
    seat_title,
)
from services.text.sentences import describe_command, event_sentence, group_commands, sender_name
from services.verification.audit import CHECK_NAMES, PASS_SENTENCES, Audit
from services.verification.explanation import Explanation, RuleCitation, Viewer, parts_of, shown_id
from services.verification.log_check import Finding
from services.verification.replay import REPLAY_ERRORS, Replay, replaying


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
    heading: Sequence[str] = ()


Cells = Sequence[Sequence[str]]  # one a viewer, each of one part or more


class OwnReport(NamedTuple):
    """How a family of games tells its own states."""

    known_rows: Callable[
        [Sequence[GameState]], Iterable[tuple[str, Cells]]
    ]  # of one state a viewer: titles, and cells
    count_names: Sequence[str]
    seat_counts: Callable[[SeatState], tuple[int, ...]]  # one for each of the names
    result_rows: Callable[
        [GameState], tuple[Sequence[str], Sequence[tuple[str, Sequence[object]]]]
    ]  # with a heading
    # of a table, for templates/board.html: with what a command names, as it stood before it, marked
    map_of: Callable[[GameState, GameState, Command | None], OfItsGame]


OWN_REPORTS: Final[dict[type, OwnReport]] = {}  # by the class of the game's own state


_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])


def markdown(text: str) -> Markup:
    """Markdown as HTML: no markup of its own, no links, no pictures."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704  # the renderer escapes what stands in the text


ENVIRONMENT: Final = html_templates("services.verification.report")
ENVIRONMENT.filters["markdown"] = markdown


class ResultSection(NamedTuple):
    """The scores at the game's end, or at its last entry. Without rows it hasn't started."""

    title: str
    heading: Sequence[str]
    rows: Sequence[tuple[str, Sequence[object]]]  # a seat's name, and its cells
    map: OfItsGame  # what templates/board.html draws; None: the game is played on no board
    seats: Sequence[str]


class EntryLine(NamedTuple):
    """An entry in words, with the findings about it."""

    sequence: int
    time: str
    sentences: Sequence[str]
    is_refused: bool
    is_marked: bool  # the page explains it
    problems: Sequence[str]


class Turn(NamedTuple):
    """The entries from one turn's start to the next."""

    title: str
    lines: list[EntryLine]

    @property
    def is_open(self) -> bool:
        """Whether the turn stands open on the page: it has a finding, or the entry asked for."""
        return any(line.is_marked or line.problems for line in self.lines)

    @property
    def entry_range(self) -> str:
        """The numbers of its entries, in words."""
        first, last = self.lines[0].sequence, self.lines[-1].sequence
        return f"entry {first}" if first == last else f"entries {first} to {last}"

    @property
    def tags(self) -> Iterator[tuple[str, str]]:
        """Short remarks beside the title, each with its CSS classes."""
        if refused := sum(line.is_refused for line in self.lines):
            yield pluralize(refused, "refusal"), "tag"
        if problems := sum(len(line.problems) for line in self.lines):
            yield pluralize(problems, "finding"), "tag bad"
        if any(line.is_marked for line in self.lines):
            yield "the move above", "tag marked"


def render_page(audit: Audit, replay: Replay, explanation: Explanation | None = None) -> str:
    """The audit, the move that was asked for, and the whole game, as one page."""
    try:
        end: GameState | None = replay.state_after(len(replay.log))
    except CorruptDataError:
        end = None
    turns, stop_reason = _narrate_log(replay, audit.findings, explanation.sequence if explanation else None)
    return ENVIRONMENT.get_template("page.html").render(
        audit=audit,
        check_names=CHECK_NAMES,
        details=[*_game_details(replay, end)],
        checks=[*_check_rows(audit)],
        move=move_section(explanation) if explanation else None,
        result=_result_section(end) if end and end.seats else None,
        turns=turns,
        stop_reason=stop_reason,
    )


def _game_details(replay: Replay, end: GameState | None) -> Iterator[tuple[str, str]]:
    try:
        game_created = replay.entry(1).events[0] if replay.log else None
    except (CorruptDataError, IndexError):
        game_created = None
    if isinstance(game_created, GameCreated):
        created_at = datetime.fromtimestamp(game_created.created / 1000, UTC)
        yield "Rules", f"{game_created.ruleset}, version {game_created.rules}"
        if game_created.board_digest is not None:
            yield "Board", f"{game_created.board} ({game_created.board_digest[:12]})"
        yield "Created", created_at.strftime("%Y-%m-%d %H:%M:%S UTC")
    if end is not None and end.game:
        yield "Seats", ", ".join(seat_state.name or "free" for seat_state in end.seats)
        status = f"over: {end.result.reason}" if end.result else "not over"
        count = len(replay.log)
        yield "State", f"{status}, after {count} {'entry' if count == 1 else 'entries'}"


def _check_rows(audit: Audit) -> Iterator[tuple[str, str, str]]:
    """Each kind of check, what came of it, and its CSS class."""
    for kind, pass_sentence in PASS_SENTENCES.items():
        failures = sum(finding.kind == kind for finding in audit.findings)
        if failures:
            yield CHECK_NAMES[kind], f"✗ {pluralize(failures, 'finding')}", "bad"
        elif kind in audit.checked:
            yield CHECK_NAMES[kind], f"✓ {pass_sentence}", "good"
        else:
            reason = audit.unchecked.get(kind, "not part of this audit")
            yield CHECK_NAMES[kind], f"– Not checked: {reason}", ""


def _result_section(state: GameState) -> ResultSection:
    title, seats = "How it ended" if state.result else "How it stands", seat_names(state)
    if not state.started:
        return ResultSection(title, (), (), None, seats)
    own = OWN_REPORTS.get(type(state.own))
    if own is None:
        return ResultSection(title, *_parts_table(state), None, seats)
    return ResultSection(title, *own.result_rows(state), own.map_of(state, state, None), seats)


def _parts_table(state: GameState) -> tuple[Sequence[str], Sequence[tuple[str, Sequence[object]]]]:
    """The heading and the rows of scores that are made of named parts."""
    found = state.result.scores if state.result else state.ruleset.score(state)
    scores = sorted((score for score in found if isinstance(score, SeatScore)), key=lambda score: score.place)
    rows = [
        (
            f"{score.place}. {seat_name(state, score.seat)} ({seat_title(score.seat)})",
            (*score.parts.values(), score.total),
        )
        for score in scores
    ]
    return ("place", *scores[0].parts, "total"), rows


def _narrate_log(
    replay: Replay, findings: Sequence[Finding], marked_sequence: int | None
) -> tuple[list[Turn], str]:
    """The turns of a log as far as it can be folded, and why no further; empty if it can."""
    problems: dict[int | None, list[str]] = {}
    for finding in findings:
        problems.setdefault(finding.number, []).append(finding.why)
    state, turns = GameState(replay.names), [Turn("Before the first turn", [])]
    for sequence in range(1, len(replay.log) + 1):
        try:
            with replaying():
                entry = replay.entry(sequence)
                sentences = _narrate_entry(state, entry)
        except REPLAY_ERRORS as error:
            reason = f"Entry {sequence} can't be read or folded ({error}): nothing is shown from there on."
            return [turn for turn in turns if turn.lines], reason
        is_refused, is_marked = entry.refusal is not None, sequence == marked_sequence
        time, wrong = format_game_time(entry.at), problems.get(sequence, ())
        turns[-1].lines.append(EntryLine(sequence, time, sentences, is_refused, is_marked, wrong))
        started_seats = [event.seat for event in entry.events if isinstance(event, TurnStarted)]
        if started_seats:
            turns.append(Turn(f"Turn {len(turns)}: {seat_name(state, started_seats[-1])}", []))
    return [turn for turn in turns if turn.lines], ""


def _narrate_entry(state: GameState, entry: Entry) -> list[str]:
    """Fold an entry's events into the state. Returns its sentences, one at least."""
    command_text = describe_command(state, entry.seat, entry.command)
    sentences = []
    for event in entry.events:
        fold_events(state, entry.at, (event,))
        if sentence := event_sentence(state, event):
            sentences.append(sentence)
    if entry.refusal:
        sentences.insert(0, f"{sender_name(state, entry.seat)} wants to {command_text}.")
    return sentences or [f"{sender_name(state, entry.seat)}: {command_text}."]


MAX_OPEN_GROUPS: Final = 12  # groups of alternatives that stand open


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


class MoveSection(NamedTuple):
    """The section about one entry."""

    title: str
    verdict: Verdict
    refused_by: Sequence[RuleCitation]
    other_rules: Sequence[RuleCitation]
    map_title: str
    map: OfItsGame  # what templates/board.html draws; None: the game is played on no board
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
    own = OWN_REPORTS.get(type(laid.own))
    return MoveSection(
        title=f"Entry {explanation.sequence}: {sender_name(explanation.after, entry.seat)}"
        f" wants to {describe_command(before, entry.seat, entry.command)}",
        verdict=_verdict(explanation),
        refused_by=cited[:refusals],
        other_rules=cited[refusals:],
        map_title="The table before it" if before.game else "The table that it laid",
        map=None if own is None else own.map_of(laid, before, entry.command),
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


# -- what each viewer knew, as a table --------------------------------------------------------


def knowledge_rows(explanation: Explanation) -> list[KnowledgeRow]:
    """The rows of what each viewer knew before the entry: of the table, and of each seat."""
    if not explanation.before.game:
        return []
    own = OWN_REPORTS.get(type(explanation.before.own))
    if own is None:
        return _parts_rows(explanation)
    states = [perspective.before for perspective in explanation.perspectives.values()]
    return [_row(title, cells) for title, cells in own.known_rows(states)]


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


# -- what the move changed, as a table ---------------------------------------------------------


def state_changes(explanation: Explanation) -> Changes:
    """Each seat's counts before and after the entry, and for whom the game waits."""
    before, after = explanation.before, explanation.after
    if not before.game:
        return Changes((), "It laid the table.")
    if explanation.entry.refusal and before.pending_choices == after.pending_choices:
        return Changes((), f"Nothing but the time. {_pending_text(before, after)}")
    own = OWN_REPORTS.get(type(after.own))
    if own is None:
        was, now = (_parts_by_title(state, "referee") for state in (before, after))
        changed = [
            Change(title, [part_change(was.get(title, TablePart(part.name)), part)])
            for title, part in now.items()
            if was.get(title) != part
        ]
        return Changes(changed, _pending_text(before, after), ("", "the part"))
    rows = [
        Change(sender_name(after, seat), [*zip(own.seat_counts(old), own.seat_counts(new), strict=True)])
        for seat, (old, new) in enumerate(zip(before.seats, after.seats, strict=True))
    ]
    return Changes(rows, _pending_text(before, after), ("", *own.count_names))


def _pending_text(before: GameState, after: GameState) -> str:
    def pending_seats(state: GameState) -> str:
        return (
            ", ".join(f"{sender_name(state, s)} ({choice})" for s, choice in state.pending_choices.items())
            or "nobody"
        )

    was, now = pending_seats(before), pending_seats(after)
    if was == now:
        return f"The table waits for {now}, as before."
    return f"The table waited for {was}; now it waits for {now}."
