"""The page for an arbiter: one HTML file that holds all it shows, runs no script and asks no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib import resources
from string import Template
from typing import Final

from schemas.codec import Corrupt, unpack_entry
from schemas.events import GameCreated
from services.referee.rules import Table
from services.text.events import count, document
from services.verification.audit import NAMES, PLAINLY, Audit
from services.verification.explanation import Explained, seek
from services.verification.report.board_svg import board_map
from services.verification.report.html import Html, el, grid, row, run, safe
from services.verification.report.move_section import legend, move
from services.verification.report.turns_section import turns


def page(done: Audit, log: Sequence[bytes], told: Explained | None = None) -> str:
    """The audit, the move that was asked for, and the whole game, as one page."""
    try:
        end: Table | None = seek(log, len(log))
    except Corrupt:
        end = None
    body = run(
        (
            _head(done, log, end),
            _findings(done),
            _checks(done),
            move(told) if told else None,
            _end(end) if end and end.places else None,
            turns(log, done.findings, told.number if told else None),
        )
    )
    return _PAGE.substitute(title=safe(f"Audit of game {done.game}"), body=body)


def _head(done: Audit, log: Sequence[bytes], end: Table | None) -> Html:
    sign, kind = ("✓", "good") if done.ok else ("✗", "bad")
    banner = el("p", el("span", sign, aria_hidden="true"), " ", done.in_a_sentence, class_=f"banner {kind}")
    facts = (el("div", el("dt", name), el("dd", value)) for name, value in _facts(log, end))
    return el("header", el("h1", f"Audit of game {done.game}"), banner, el("dl", *facts))


def _facts(log: Sequence[bytes], end: Table | None) -> Iterator[tuple[str, str]]:
    try:
        laid = unpack_entry(log[0]).events[0] if log else None
    except (Corrupt, IndexError):
        laid = None
    if isinstance(laid, GameCreated):
        began = datetime.fromtimestamp(laid.created / 1000, UTC)
        yield "Rules", f"{laid.ruleset}, version {laid.rules}"
        yield "Board", f"{laid.board} ({laid.board_digest[:12]})"
        yield "Created", began.strftime("%Y-%m-%d %H:%M:%S UTC")
    if end is not None and end.game:
        yield "Seats", ", ".join(place.name or "free" for place in end.places)
        state = f"over: {end.over.reason}" if end.over else "not over"
        yield "State", f"{state}, after {count(len(log), 'entry').replace('entrys', 'entries')}"


def _findings(done: Audit) -> Html | None:
    if done.ok:
        return None
    found = []
    for finding in done.findings:
        where: Html | str = "The game as a whole"
        if finding.number is not None:
            where = el("a", f"Entry {finding.number}", href=f"#e{finding.number}")
        found.append(el("li", el("strong", where), f" ({NAMES[finding.kind].lower()}): {finding.why}"))
    after = el("p", "What stands after the first may follow from it.", class_="quiet") if found[1:] else None
    return el("section", el("h2", "What is wrong"), el("ol", *found, class_="findings"), after, id="findings")


def _checks(done: Audit) -> Html:
    rows = []
    for kind, good in PLAINLY.items():
        found = sum(finding.kind == kind for finding in done.findings)
        if found:
            rows.append(row(NAMES[kind], f"✗ {count(found, 'finding')}", class_="bad"))
        elif kind in done.checked:
            rows.append(row(NAMES[kind], f"✓ {good}", class_="good"))
        else:
            rows.append(
                row(NAMES[kind], f"– Not checked: {done.unchecked.get(kind, 'not part of this audit')}")
            )
    heading = row("what", "finding", head=True)
    return el("section", el("h2", "What was checked"), grid(heading, rows, class_="checks"), id="checks")


def _end(table: Table) -> Html:
    """How the game stands at its end, or stood at its last entry."""
    told = document(table, 0, 0)
    more = [name for name in ("most", "stations", "merchandise") if any(seat[name] for seat in told["seats"])]
    rows = []
    for seat in sorted(told["seats"], key=lambda s: (s["place"], s["seat"])):
        tickets = f"{seat['tickets']:+} ({len(seat['made'])} made, {len(seat['missed'])} missed)"
        bonus = f"{seat['longest']}" + (f" (+{seat['bonus']})" if seat["bonus"] else "")
        cells = (seat["routes"], tickets, bonus, *(seat[name] for name in more), seat["total"])
        name = f"{seat['place']}. {seat['name'] or 'free'} (seat {seat['seat']})"
        rows.append(row(name, *(str(cell) for cell in cells)))
    heading = row("place", "routes", "tickets", "longest", *more, "total", head=True)
    title = "How it ended" if table.over else "How it stands"
    map_ = el("figure", board_map(table), el("figcaption", legend(table)))
    figures = grid(heading, rows, class_="figures")
    if not table.started:
        return el("section", el("h2", title), el("p", "The game hasn't started."), id="end")
    return el("section", el("h2", title), figures, el("details", el("summary", "The map"), map_), id="end")


_PAGE: Final = Template(resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
