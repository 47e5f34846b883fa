"""The rules as the gateway shows them: a page a ruleset, and for every id what the pages say of it.

A problem's `type` is the address of its rule, so whoever was refused is one click from the rule.
Where the pages are and how their passages are found stands in `rule_passages`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from string import Template
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Response
from fastapi.responses import HTMLResponse, JSONResponse
from markdown_it import MarkdownIt

from schemas.refusals import ALL_RULES, MESSAGE_RULES
from services.gateway.problem_details import HttpProblemError
from services.rulebook import extract_passages, read_pages

RULE_ID: Final = re.compile(r"(<strong>)?\b([A-Z]+-\d)\b(?:</strong>)?")
VARY_HEADER: Final = {"Vary": "Accept"}  # one address, two forms

Accept = Annotated[str, Header(include_in_schema=False)]


def build_router() -> APIRouter:
    """GET /rules, /rules/{a ruleset} and /rules/{an id}: HTML for browsers, JSON for programs."""
    pages = read_pages()
    passages_by_rule = extract_passages(pages)
    routes = APIRouter(tags=["house"])

    @routes.get("/rules", summary="All rulesets and all rules")
    async def index(accept: Accept = "") -> Response:
        body = {"rulesets": list(pages), "rules": {**dict.fromkeys(passages_by_rule), **ALL_RULES}}
        return _negotiate(accept, body, "Rules", _index_html(pages, passages_by_rule))

    @routes.get("/rules/{rule}", summary="A rule's id in words, or a ruleset's whole page")
    async def rule(rule: str, accept: Accept = "") -> Response:
        if rule in pages:
            return _negotiate(
                accept, {"ruleset": rule, "markdown": pages[rule]}, rule, _render_markdown(pages[rule])
            )
        if rule not in ALL_RULES and rule not in passages_by_rule:
            raise HttpProblemError(404, "SHAPE-1", f"there is no rule {rule[:40]}")
        passage_by_ruleset = passages_by_rule.get(rule, {})
        return _negotiate(
            accept,
            {"rule": rule, "text": ALL_RULES.get(rule), "told": passage_by_ruleset},
            rule,
            _rule_html(rule, passage_by_ruleset),
        )

    return routes


def _negotiate(accept: str, body: Mapping[str, Any], title: str, html: str) -> Response:
    if "text/html" in accept:
        return HTMLResponse(_PAGE.substitute(title=escape(title), body=html), headers=VARY_HEADER)
    return JSONResponse(body, headers=VARY_HEADER)


def _rule_html(rule: str, passage_by_ruleset: Mapping[str, str]) -> str:
    """The sentence, then each passage once, under the rulesets that say it like this."""
    rulesets: dict[str, list[str]] = {}
    for ruleset, passage in passage_by_ruleset.items():
        rulesets.setdefault(passage, []).append(ruleset)
    parts = [f"<h1>{rule}</h1>"]
    if rule in ALL_RULES:
        parts.append(f'<p class="sentence">{escape(ALL_RULES[rule])}</p>')
    for passage, names in rulesets.items():
        links = ", ".join(f'<a href="/rules/{name}#{rule}">{name}</a>' for name in names)
        parts.append(f"<section><h2>In {links}</h2>{_render_markdown(passage)}</section>")
    return "\n".join(parts)


def _index_html(pages: Mapping[str, str], rule_ids: Iterable[str]) -> str:
    """Every ruleset with its aim, then every id with its sentence."""
    parts = ["<h1>Rules</h1>"]
    for ruleset, text in pages.items():
        link = f'<a href="/rules/{ruleset}">{ruleset}</a>'
        parts.append(f"<section><h2>{link}</h2>{_render_markdown(_summary(text))}</section>")
    parts += [
        "<h2>What a refusal can name</h2>",
        _sentence_table(rule for rule in ALL_RULES if rule not in MESSAGE_RULES),
    ]
    parts += ["<h2>The same, about messages</h2>", _sentence_table(MESSAGE_RULES)]
    parts += [
        "<h2>What nobody can do wrong</h2>",
        _rule_list(rule for rule in rule_ids if rule not in ALL_RULES),
    ]
    return "\n".join(parts)


def _summary(text: str) -> str:
    """Which game it is, and what one tries to do: a page's first sentence and second paragraph."""
    _, introduction, aim = text.split("\n\n")[:3]
    return f"{introduction.split('. ')[0]}.\n\n{aim}"


def _sentence_table(rules: Iterable[str]) -> str:
    rows = (f"<tr><td>{_rule_link(rule)}</td><td>{escape(ALL_RULES[rule])}</td></tr>" for rule in rules)
    return f"<table>{''.join(rows)}</table>"


def _rule_list(rules: Iterable[str]) -> str:
    return f"<p>{', '.join(map(_rule_link, sorted(rules)))}</p>"


def _render_markdown(markdown: str) -> str:
    """Markdown of ours as HTML, where each id leads to its rule and can be led to."""
    return RULE_ID.sub(_anchor_rule, _MARKDOWN.render(markdown))


def _anchor_rule(match: re.Match[str]) -> str:
    bold, rule = match.groups()
    return f'<strong id="{rule}">{_rule_link(rule)}</strong>' if bold else _rule_link(rule)


def _rule_link(rule: str) -> str:
    return f'<a href="/rules/{rule}">{rule}</a>'


_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_PAGE: Final = Template(resources.files(__package__).joinpath("rule_page.html").read_text(encoding="utf-8"))
