"""The page for an arbiter: one HTML file that holds all it shows, runs no script and asks no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from schemas.errors import CorruptDataError
from schemas.events import GameCreated
from services.referee.rules import GameState
from services.text.formatting import pluralize
from services.text.game_summary import game_summary_json
from services.verification.audit import CHECK_NAMES, PASS_SENTENCES, Audit
from services.verification.explanation import Explanation
from services.verification.replay import Replay
from services.verification.report.board_map import BoardMap, board_map
from services.verification.report.move_section import move_section, seat_names
from services.verification.report.templating import ENVIRONMENT
from services.verification.report.turns_section import turns_section


class FindingLine(NamedTuple):
    """A finding on the page; without a sequence it is of the game as a whole."""

    sequence: int | None
    check: str
    why: str


class CheckLine(NamedTuple):
    """A kind of check and what came of it."""

    name: str
    outcome: str
    css: str


class SummarySection(NamedTuple):
    """The audit in short."""

    game: str
    ok: bool
    verdict: str
    details: Sequence[tuple[str, str]]
    findings: Sequence[FindingLine]
    checks: Sequence[CheckLine]


class ScoreRow(NamedTuple):
    """A seat's line of the scores; the cells follow the heading."""

    name: str
    cells: Sequence[object]


class ResultSection(NamedTuple):
    """How the game stands at its end, or stood at its last entry. Without a map it hasn't started."""

    title: str
    heading: Sequence[str]
    rows: Sequence[ScoreRow]
    map: BoardMap | None
    seats: Sequence[str]


def render_page(audit: Audit, replay: Replay, explanation: Explanation | None = None) -> str:
    """The audit, the move that was asked for, and the whole game, as one page."""
    try:
        end: GameState | None = replay.state_after(len(replay.log))
    except CorruptDataError:
        end = None
    return ENVIRONMENT.get_template("page.html").render(
        summary=_summary_section(audit, replay, end),
        move=move_section(explanation) if explanation else None,
        result=_result_section(end) if end and end.seats else None,
        turns=turns_section(replay, audit.findings, explanation.sequence if explanation else None),
    )


def _summary_section(audit: Audit, replay: Replay, end: GameState | None) -> SummarySection:
    return SummarySection(
        game=audit.game,
        ok=audit.ok,
        verdict=audit.summary,
        details=[*_game_details(replay, end)],
        findings=[
            FindingLine(finding.number, CHECK_NAMES[finding.kind].lower(), finding.why)
            for finding in audit.findings
        ],
        checks=[*_check_lines(audit)],
    )


def _game_details(replay: Replay, end: GameState | None) -> Iterator[tuple[str, str]]:
    try:
        game_created = replay.entry(1).events[0] if replay.log else None
    except (CorruptDataError, IndexError):
        game_created = None
    if isinstance(game_created, GameCreated):
        created_at = datetime.fromtimestamp(game_created.created / 1000, UTC)
        yield "Rules", f"{game_created.ruleset}, version {game_created.rules}"
        yield "Board", f"{game_created.board} ({game_created.board_digest[:12]})"
        yield "Created", created_at.strftime("%Y-%m-%d %H:%M:%S UTC")
    if end is not None and end.game:
        yield "Seats", ", ".join(seat_state.name or "free" for seat_state in end.seats)
        status = f"over: {end.result.reason}" if end.result else "not over"
        yield "State", f"{status}, after {pluralize(len(replay.log), 'entry').replace('entrys', 'entries')}"


def _check_lines(audit: Audit) -> Iterator[CheckLine]:
    for kind, pass_sentence in PASS_SENTENCES.items():
        failures = sum(finding.kind == kind for finding in audit.findings)
        if failures:
            yield CheckLine(CHECK_NAMES[kind], f"✗ {pluralize(failures, 'finding')}", "bad")
        elif kind in audit.checked:
            yield CheckLine(CHECK_NAMES[kind], f"✓ {pass_sentence}", "good")
        else:
            reason = audit.unchecked.get(kind, "not part of this audit")
            yield CheckLine(CHECK_NAMES[kind], f"– Not checked: {reason}", "")


def _result_section(state: GameState) -> ResultSection:
    summary = game_summary_json(state, 0, 0)
    extra_columns = [
        name for name in ("most", "stations", "merchandise") if any(seat[name] for seat in summary["seats"])
    ]
    rows = []
    for seat in sorted(summary["seats"], key=lambda seat: (seat["place"], seat["seat"])):
        tickets = f"{seat['tickets']:+} ({len(seat['made'])} made, {len(seat['missed'])} missed)"
        bonus = f"{seat['longest']}" + (f" (+{seat['bonus']})" if seat["bonus"] else "")
        name = f"{seat['place']}. {seat['name'] or 'free'} (seat {seat['seat']})"
        cells = (seat["routes"], tickets, bonus, *(seat[name] for name in extra_columns), seat["total"])
        rows.append(ScoreRow(name, cells))
    return ResultSection(
        title="How it ended" if state.result else "How it stands",
        heading=("place", "routes", "tickets", "longest", *extra_columns, "total"),
        rows=rows,
        map=board_map(state) if state.started else None,
        seats=seat_names(state),
    )
