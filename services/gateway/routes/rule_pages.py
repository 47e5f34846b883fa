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

from schemas.refusals import ALL, CONTRACT
from services.gateway.problem_details import Problem
from services.rulebook import passages, read_pages

NAMED: Final = re.compile(r"(<strong>)?\b([A-Z]+-\d)\b(?:</strong>)?")
VARY: Final = {"Vary": "Accept"}  # one address, two forms

Accept = Annotated[str, Header(include_in_schema=False)]


def router() -> APIRouter:
    """GET /rules, /rules/{a ruleset} and /rules/{an id}: HTML for browsers, JSON for programs."""
    pages = read_pages()
    told = passages(pages)
    routes = APIRouter(tags=["house"])

    @routes.get("/rules", summary="All rulesets and all rules")
    async def index(accept: Accept = "") -> Response:
        body = {"rulesets": list(pages), "rules": {**dict.fromkeys(told), **ALL}}
        return _either(accept, body, "Rules", _index_html(pages, told))

    @routes.get("/rules/{rule}", summary="A rule's id in words, or a ruleset's whole page")
    async def rule(rule: str, accept: Accept = "") -> Response:
        if rule in pages:
            return _either(accept, {"ruleset": rule, "markdown": pages[rule]}, rule, _html(pages[rule]))
        if rule not in ALL and rule not in told:
            raise Problem(404, "SHAPE-1", f"there is no rule {rule[:40]}")
        said = told.get(rule, {})
        return _either(
            accept, {"rule": rule, "text": ALL.get(rule), "told": said}, rule, _rule_html(rule, said)
        )

    return routes


def _either(accept: str, body: Mapping[str, Any], title: str, html: str) -> Response:
    if "text/html" in accept:
        return HTMLResponse(_PAGE.substitute(title=escape(title), body=html), headers=VARY)
    return JSONResponse(body, headers=VARY)


def _rule_html(rule: str, said: Mapping[str, str]) -> str:
    """The sentence, then each passage once, under the rulesets that say it like this."""
    rulesets: dict[str, list[str]] = {}
    for ruleset, passage in said.items():
        rulesets.setdefault(passage, []).append(ruleset)
    parts = [f"<h1>{rule}</h1>"]
    if rule in ALL:
        parts.append(f'<p class="sentence">{escape(ALL[rule])}</p>')
    for passage, names in rulesets.items():
        links = ", ".join(f'<a href="/rules/{name}#{rule}">{name}</a>' for name in names)
        parts.append(f"<section><h2>In {links}</h2>{_html(passage)}</section>")
    return "\n".join(parts)


def _index_html(pages: Mapping[str, str], told: Iterable[str]) -> str:
    """Every ruleset with its aim, then every id with its sentence."""
    parts = ["<h1>Rules</h1>"]
    for ruleset, text in pages.items():
        link = f'<a href="/rules/{ruleset}">{ruleset}</a>'
        parts.append(f"<section><h2>{link}</h2>{_html(_aim(text))}</section>")
    parts += ["<h2>What a refusal can name</h2>", _sentences(rule for rule in ALL if rule not in CONTRACT)]
    parts += ["<h2>The same, about messages</h2>", _sentences(CONTRACT)]
    parts += ["<h2>What nobody can do wrong</h2>", _names(rule for rule in told if rule not in ALL)]
    return "\n".join(parts)


def _aim(text: str) -> str:
    """Which game it is, and what one tries to do: a page's first sentence and second paragraph."""
    _, what, aim = text.split("\n\n")[:3]
    return f"{what.split('. ')[0]}.\n\n{aim}"


def _sentences(rules: Iterable[str]) -> str:
    rows = (f"<tr><td>{_linked(rule)}</td><td>{escape(ALL[rule])}</td></tr>" for rule in rules)
    return f"<table>{''.join(rows)}</table>"


def _names(rules: Iterable[str]) -> str:
    return f"<p>{', '.join(map(_linked, sorted(rules)))}</p>"


def _html(markdown: str) -> str:
    """Markdown of ours as HTML, where each id leads to its rule and can be led to."""
    return NAMED.sub(_anchored, _MARKDOWN.render(markdown))


def _anchored(found: re.Match[str]) -> str:
    bold, rule = found.groups()
    return f'<strong id="{rule}">{_linked(rule)}</strong>' if bold else _linked(rule)


def _linked(rule: str) -> str:
    return f'<a href="/rules/{rule}">{rule}</a>'


_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_PAGE: Final = Template(resources.files(__package__).joinpath("rule_page.html").read_text(encoding="utf-8"))
