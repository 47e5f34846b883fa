"""The arbiter's page: self-contained, well-formed, and safe against markup in a game's texts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as Xml
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import Markup

from schemas.commands import TakeSeat
from schemas.events import SeatTaken
from schemas.trains.commands import ClaimRoute
from schemas.trains.events import CardDrawn
from services.verification import report
from services.verification.audit import audit
from services.verification.explanation import explain
from services.verification.replay import Replay
from services.verification.report.page import ENVIRONMENT, markdown, render_page
from tests.long_runs import long_but_every
from tests.verification.audit.given import NAMES, USA, entries, find, golden, rewritten

MISCHIEF = "usa-mischief"
TEMPLATES = Path(report.__file__).parent / "templates"


def page(game: str, log: list[bytes], number: int | None = None) -> str:
    [html] = pages(game, log, number)
    return html


def pages(game: str, log: list[bytes], *numbers: int | None) -> Iterator[str]:
    """The page of a game that is audited once, with each of these moves explained."""
    replay = Replay(game, log)
    audited = audit(replay)
    for number in numbers:
        yield render_page(audited, replay, explain(replay, number) if number else None)


def parsed(html: str) -> Xml.Element:
    """The page's <main>, parsed as XML. Raises ParseError."""
    start, end = html.index("<main>"), html.index("</main>")
    return Xml.fromstring(html[start : end + len("</main>")])


@pytest.mark.long
@pytest.mark.parametrize("game", long_but_every(16, NAMES))
def test_the_page_of_any_game_is_well_formed_and_its_links_have_targets(game: str) -> None:
    log = golden(game)
    for html in pages(game, log, 1, len(log) // 2, len(log)):
        tree = parsed(html)
        ids = [element.get("id") for element in tree.iter() if element.get("id")]
        assert len(ids) == len(set(ids))
        assert {f"e{n}" for n in range(1, len(log) + 1)} <= set(ids)
        assert {str(a.get("href")).removeprefix("#") for a in tree.iter("a")} <= set(ids)


def test_the_page_asks_no_network_and_runs_no_script() -> None:
    html = page(MISCHIEF, golden(MISCHIEF), 100)
    assert "default-src 'none'" in html
    for external in ("<script", "src=", "@import", "url(", "<link", "javascript:", "//"):
        assert external not in html, external


def test_the_verdict_comes_first_and_a_finding_links_to_its_entry() -> None:
    number = find(USA, lambda e: isinstance(e.events[0], CardDrawn))
    drawn, *rest = entries()[number - 1].events
    assert isinstance(drawn, CardDrawn)
    other = replace(drawn, card="red" if drawn.card != "red" else "blue")
    html = page(USA, rewritten(golden(), number, other, *rest), number)
    tree = parsed(html)
    header = tree.find("header")
    assert header is not None
    assert f"from entry {number} of 233 on" in "".join(header.itertext())
    first = tree.find("section/ol/li/strong/a")
    assert first is not None
    assert (first.get("href"), first.text) == (f"#e{number}", f"Entry {number}")
    assert "Not as the rules say." in html


def test_the_page_states_what_was_not_checked() -> None:
    text = "".join(parsed(page(USA, golden())).itertext())
    assert "Nothing wrong was found in game usa-four-mixed; not checked: the chain" in text
    assert "Nothing is wrong" not in text


def test_a_refused_claim_is_marked_on_the_map_with_its_rule() -> None:
    number = find(MISCHIEF, lambda e: isinstance(e.command, ClaimRoute) and e.refusal)
    tree = parsed(page(MISCHIEF, golden(MISCHIEF), number))
    assert [p for p in tree.iter("path") if p.get("class") == "halo"]
    move = next(section for section in tree.iter("section") if section.get("id") == "move")
    text = "".join(move.itertext())
    refusal = entries(MISCHIEF)[number - 1].refusal
    assert refusal is not None
    assert f"Refused by {refusal.rule}" in text
    for heading in ("The rule in words", "The table before it", "Who saw what", "could have done", "changed"):
        assert heading in text, heading


def test_what_all_viewers_knew_alike_stands_once() -> None:
    tree = parsed(page(MISCHIEF, golden(MISCHIEF), 100))
    table = next(each for each in tree.iter("table") if each.get("class") == "sights")
    rows = {"".join(row[0].itertext()): row[1:] for row in table.iter("tr")}
    assert [cell.get("colspan") for cell in rows["Market"]] == [str(len(rows[""]))]
    assert "the same for all" in "".join(rows["Market"][0].itertext())
    assert len(rows["Deck"]) == len(rows[""]), "the referee alone knows what comes next"


def test_markup_in_names_is_escaped() -> None:
    game, evil = "usa-turns", "<script>alert(1)</script>&\"'"
    log = golden(game)
    number = find(game, lambda e: isinstance(e.command, TakeSeat)) if _has_people(game) else 1
    events = tuple(
        replace(event, name=evil) if isinstance(event, SeatTaken) else event
        for event in entries(game)[number - 1].events
    )
    html = page(game, rewritten(log, number, *events), min(number + 2, len(log)))
    assert "<script" not in html
    assert evil in "".join(parsed(html).itertext())


def test_text_is_escaped_unless_it_is_markup_already() -> None:
    template = ENVIRONMENT.from_string('<p title="{{ title }}">{{ text }}{{ markup }}</p>')
    html = template.render(title='"', text="<b>", markup=Markup("<i>&amp;</i>"))
    assert html == '<p title="&#34;">&lt;b&gt;<i>&amp;</i></p>'
    for name in ENVIRONMENT.list_templates():
        assert "| safe" not in (TEMPLATES / name).read_text(), name
    assert "<a" not in markdown("[x](javascript:alert(1)) <b>")
    assert "<b>" not in markdown("<b>")


@pytest.mark.parametrize("damage", [1, 2, 30, 233])
def test_a_damaged_game_has_a_page_too(damage: int) -> None:
    log = golden()
    log[damage - 1] = b"\xc1"
    replay = Replay(USA, log)
    html = render_page(audit(replay), replay)
    parsed(re.sub(r'href="#e\d+"', "", html))
    assert f"Entry {damage}" in html
    assert "nothing is shown from there on" in html


def _has_people(game: str) -> bool:
    return any(isinstance(entry.command, TakeSeat) for entry in entries(game))


def test_a_game_in_parts_is_told_by_its_parts_where_trains_have_a_map() -> None:
    log = golden("tricks-3")
    replay = Replay("tricks-3", log)
    html = render_page(audit(Replay("tricks-3", log[:1])), replay, explain(replay, 12))
    assert "<svg" not in html
    rows = [["".join(cell.itertext()) for cell in row] for row in parsed(html).iter("tr")]
    trick = next(row for row in rows if row[0] == "trick")
    assert trick[1].endswith("the same for all") and "card" in trick[1]
    hands = next(row for row in rows if row[0].endswith(": hand"))
    assert re.match(r"\d+ cards: ", hands[1]) and re.match(r"\d+ cards$", hands[2]), "the public sees none"
    assert ["", "the part"] in rows, "what the entry changed"
    changed = next(row for row in rows if row[0].endswith(": hand") and "→" in row[1])
    assert re.match(r"\d+ cards → \d+ cards, without \w+-\d+$", changed[1])
    assert ["place", "tricks", "total"] in rows
