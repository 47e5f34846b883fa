"""The page for an arbiter: one HTML file that holds all it shows, runs no script and asks no network."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources
from string import Template
from typing import Final

from schemas.errors import CorruptDataError
from schemas.events import GameCreated
from services.referee.rules import GameState
from services.text.events import game_summary_json
from services.text.formatting import pluralize
from services.verification.audit import CHECK_NAMES, PASS_SENTENCES, Audit
from services.verification.explanation import Explanation
from services.verification.replay import Replay
from services.verification.report.board_svg import board_map
from services.verification.report.html import Html, el, escape_html, grid, join_html, row
from services.verification.report.move_section import legend, move_section
from services.verification.report.turns_section import turns_section


def render_page(audit: Audit, replay: Replay, explanation: Explanation | None = None) -> str:
    """The audit, the move that was asked for, and the whole game, as one page."""
    try:
        end: GameState | None = replay.state_after(len(replay.log))
    except CorruptDataError:
        end = None
    body = join_html(
        (
            _header(audit, replay, end),
            _findings_section(audit),
            _checks_section(audit),
            move_section(explanation) if explanation else None,
            _result_section(end) if end and end.seats else None,
            turns_section(replay, audit.findings, explanation.sequence if explanation else None),
        )
    )
    return _PAGE.substitute(title=escape_html(f"Audit of game {audit.game}"), body=body)


def _header(audit: Audit, replay: Replay, end: GameState | None) -> Html:
    symbol, kind = ("✓", "good") if audit.ok else ("✗", "bad")
    banner = el("p", el("span", symbol, aria_hidden="true"), " ", audit.summary, class_=f"banner {kind}")
    pairs = (el("div", el("dt", name), el("dd", value)) for name, value in _game_facts(replay, end))
    return el("header", el("h1", f"Audit of game {audit.game}"), banner, el("dl", *pairs))


def _game_facts(replay: Replay, end: GameState | None) -> Iterator[tuple[str, str]]:
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


def _findings_section(audit: Audit) -> Html | None:
    if audit.ok:
        return None
    list_items = []
    for finding in audit.findings:
        location: Html | str = "The game as a whole"
        if finding.number is not None:
            location = el("a", f"Entry {finding.number}", href=f"#e{finding.number}")
        list_items.append(
            el("li", el("strong", location), f" ({CHECK_NAMES[finding.kind].lower()}): {finding.why}")
        )
    note = (
        el("p", "What stands after the first may follow from it.", class_="quiet") if list_items[1:] else None
    )
    return el(
        "section", el("h2", "What is wrong"), el("ol", *list_items, class_="findings"), note, id="findings"
    )


def _checks_section(audit: Audit) -> Html:
    rows = []
    for kind, pass_sentence in PASS_SENTENCES.items():
        failures = sum(finding.kind == kind for finding in audit.findings)
        if failures:
            rows.append(row(CHECK_NAMES[kind], f"✗ {pluralize(failures, 'finding')}", class_="bad"))
        elif kind in audit.checked:
            rows.append(row(CHECK_NAMES[kind], f"✓ {pass_sentence}", class_="good"))
        else:
            rows.append(
                row(
                    CHECK_NAMES[kind], f"– Not checked: {audit.unchecked.get(kind, 'not part of this audit')}"
                )
            )
    heading = row("what", "finding", head=True)
    return el("section", el("h2", "What was checked"), grid(heading, rows, class_="checks"), id="checks")


def _result_section(state: GameState) -> Html:
    """How the game stands at its end, or stood at its last entry."""
    summary = game_summary_json(state, 0, 0)
    extra_columns = [
        name for name in ("most", "stations", "merchandise") if any(seat[name] for seat in summary["seats"])
    ]
    rows = []
    for seat in sorted(summary["seats"], key=lambda s: (s["place"], s["seat"])):
        tickets = f"{seat['tickets']:+} ({len(seat['made'])} made, {len(seat['missed'])} missed)"
        bonus = f"{seat['longest']}" + (f" (+{seat['bonus']})" if seat["bonus"] else "")
        cells = (seat["routes"], tickets, bonus, *(seat[name] for name in extra_columns), seat["total"])
        name = f"{seat['place']}. {seat['name'] or 'free'} (seat {seat['seat']})"
        rows.append(row(name, *(str(cell) for cell in cells)))
    heading = row("place", "routes", "tickets", "longest", *extra_columns, "total", head=True)
    title = "How it ended" if state.result else "How it stands"
    map_ = el("figure", board_map(state), el("figcaption", legend(state)))
    score_table = grid(heading, rows, class_="figures")
    if not state.started:
        return el("section", el("h2", title), el("p", "The game hasn't started."), id="end")
    return el(
        "section", el("h2", title), score_table, el("details", el("summary", "The map"), map_), id="end"
    )


_PAGE: Final = Template(resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
