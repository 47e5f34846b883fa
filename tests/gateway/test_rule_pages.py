"""The gateway shows every rule: its sentence, and its passages in the pages of docs/reference/rules."""

from __future__ import annotations

import re
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest

from schemas.published_contracts import ALL_RULES
from schemas.refusals import BROUGHT_PAGES, MESSAGE_RULES
from services.rulebook import extract_passages, read_pages, title_of
from tests.gateway.clients import problem

ROOT = Path(__file__).parents[2]
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


class Links(HTMLParser):
    """What a page links to, what can be linked to on it, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.ids: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and given.get("href"):
            self.links.add(str(given["href"]))
        if given.get("id"):
            self.ids.append(str(given["id"]))

    def handle_data(self, data: str) -> None:
        self.text += data


def browse(http: httpx.Client, path: str) -> Links:
    reply = http.get(path, headers=BROWSER)
    assert reply.status_code == 200, path
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["vary"] == "Accept"
    return Links(reply.text)


@pytest.mark.parametrize("rule", ALL_RULES)
def test_every_refusal_leads_to_its_sentence_and_its_passages(http: httpx.Client, rule: str) -> None:
    body = http.get(f"/rules/{rule}").json()
    assert body["text"] == ALL_RULES[rule]
    assert bool(body["passages"]) == (rule not in MESSAGE_RULES)
    page = browse(http, f"/rules/{rule}")
    assert ALL_RULES[rule] in page.text
    assert page.links >= {f"/rules/{ruleset}#{rule}" for ruleset in body["passages"]}


def test_a_passage_that_several_games_share_is_shown_once(http: httpx.Client) -> None:
    page = browse(http, "/rules/CARD-5")
    assert page.text.count("You may hold any number of cards.") == 1
    assert page.links >= {f"/rules/{ruleset}#CARD-5" for ruleset in ("usa", "europe", "marklin", "trains")}


def test_a_rule_that_nobody_can_break_has_a_page_but_no_sentence(http: httpx.Client) -> None:
    body = http.get("/rules/SCORE-4").json()
    assert (body["rule"], body["text"], list(body["passages"])) == ("SCORE-4", None, ["marklin"])


def test_a_passage_is_the_whole_item_and_nothing_else(http: httpx.Client) -> None:
    body = http.get("/rules/MERCH-1").json()["passages"]["marklin"]
    assert body.startswith("The colour of a city")
    assert body.endswith("| country | none |")
    page = browse(http, "/rules/MERCH-1")
    assert "| country" not in page.text, "the table is a table"
    assert http.get("/rules/TUNNEL-4").json()["passages"]["europe"].endswith("whatever you chose.")


@pytest.mark.parametrize("ruleset", sorted(read_pages().keys() - BROUGHT_PAGES.keys()))
def test_a_rulesets_page_can_be_read_and_linked_to(http: httpx.Client, ruleset: str) -> None:
    markdown = read_pages()[ruleset]
    assert http.get(f"/rules/{ruleset}").json() == {"ruleset": ruleset, "markdown": markdown}
    page = browse(http, f"/rules/{ruleset}")
    assert page.ids == re.findall(r"^- \*\*([A-Z]+-\d)\*\*", markdown, re.MULTILINE)
    assert "**" not in page.text
    assert "|---" not in page.text


def test_the_index_leads_everywhere_and_no_link_is_broken(http: httpx.Client) -> None:
    index = http.get("/rules").json()
    rules = {*ALL_RULES, *extract_passages(read_pages())}
    assert (set(index["rulesets"]), set(index["rules"])) == (set(read_pages()), rules)
    open_page = cache(partial(browse, http))
    page = open_page("/rules")
    assert page.links >= {f"/rules/{name}" for name in (*rules, *read_pages())}
    for link in sorted(page.links - {"/", "/docs", "/guide"}):
        for onward in open_page(link).links - page.links:
            path, _, anchor = onward.partition("#")
            assert anchor in open_page(path).ids, onward


@pytest.mark.parametrize("ruleset,title", [("usa", "USA"), ("marklin", "Marklin"), ("tricks", "Tricks")])
def test_a_ruleset_is_called_by_the_heading_of_its_page(http: httpx.Client, ruleset: str, title: str) -> None:
    page = http.get(f"/rules/{ruleset}", headers=BROWSER).text
    assert f"<title>{title} - Ledgerline</title>" in page
    assert f'<a href="/rules/{ruleset}">{title}</a>' in http.get("/rules", headers=BROWSER).text
    listed = {each["name"]: each["title"] for each in http.get("/v1/rulesets").json()["rulesets"]}
    assert listed[ruleset] == title


def test_a_ruleset_without_a_page_is_called_by_its_name() -> None:
    assert title_of("chess") == "Chess"


@pytest.mark.parametrize("unknown", ["ROUTE-99", "usa.md", "turn-1", "%3Cscript%3E"])
def test_an_unknown_rule_is_a_problem_and_a_page_of_it_for_a_browser(
    http: httpx.Client, unknown: str
) -> None:
    problem(http.get(f"/rules/{unknown}"), 404, "SHAPE-1")
    page = http.get(f"/rules/{unknown}", headers=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_without_the_pages_the_sentences_remain(tmp_path: Path) -> None:
    assert read_pages(tmp_path / "none") == BROUGHT_PAGES
    (tmp_path / "usa.md").write_text("- **TURN-1** One\n  two.\n\nThree.\n")
    passages = extract_passages(read_pages(tmp_path))
    assert passages["TURN-1"] == {"usa": "One\ntwo."}
