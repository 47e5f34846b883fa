"""The page for an arbiter: one HTML file that holds all it shows, runs no script and asks no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markupsafe import Markup

from schemas.errors import CorruptDataError
from schemas.events import GameCreated, SeatScore, TurnStarted
from schemas.stored.entries import Entry
from services.referee.games import GameState, fold_events
from services.runtime.html_templates import html_templates
from services.text.commands import describe_command, sender_name
from services.text.events import event_sentence
from services.text.formatting import format_game_time, pluralize, seat_name
from services.text.game_summary import game_summary_json
from services.verification.audit import CHECK_NAMES, PASS_SENTENCES, Audit
from services.verification.explanation import Explanation
from services.verification.findings import Finding
from services.verification.replay import Replay
from services.verification.replay_errors import REPLAY_ERRORS, replaying
from services.verification.report.board_map import BoardMap, board_map
from services.verification.report.move_section import move_section, seat_names

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
    map: BoardMap | None  # of a game that is played on a board
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
    if not state.ruleset.default_board:
        return ResultSection(title, *_parts_table(state), None, seats)
    summary = game_summary_json(state, 0, 0)
    extra_columns = [
        name for name in ("most", "stations", "merchandise") if any(seat[name] for seat in summary["seats"])
    ]
    rows = list[tuple[str, Sequence[object]]]()
    for seat in sorted(summary["seats"], key=lambda seat: (seat["place"], seat["seat"])):
        tickets = f"{seat['tickets']:+} ({len(seat['made'])} made, {len(seat['missed'])} missed)"
        bonus = f"{seat['longest']}" + (f" (+{seat['bonus']})" if seat["bonus"] else "")
        name = f"{seat['place']}. {seat['name'] or 'free'} (seat {seat['seat']})"
        cells = (seat["routes"], tickets, bonus, *(seat[name] for name in extra_columns), seat["total"])
        rows.append((name, cells))
    return ResultSection(
        title=title,
        heading=("place", "routes", "tickets", "longest", *extra_columns, "total"),
        rows=rows,
        map=board_map(state),
        seats=seats,
    )


def _parts_table(state: GameState) -> tuple[Sequence[str], Sequence[tuple[str, Sequence[object]]]]:
    """The heading and the rows of scores that are made of named parts."""
    found = state.result.scores if state.result else state.ruleset.score(state)
    scores = sorted((score for score in found if isinstance(score, SeatScore)), key=lambda score: score.place)
    rows = [
        (
            f"{score.place}. {seat_name(state, score.seat)} (seat {score.seat})",
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
