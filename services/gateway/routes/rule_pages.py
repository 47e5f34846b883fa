"""Routes of the rules: a page for each ruleset, and for every rule id the passages that state it.

The `type` of a problem is the path of its rule, so a refused client is one click from the rule.
services/rulebook.py finds the pages and their passages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from fastapi import APIRouter, Depends, Header, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from schemas.refusals import EVERY_RULE, MESSAGE_RULES
from services.gateway.errors import NotFoundError
from services.gateway.models import openapi
from services.gateway.models.response_models import RuleIndex, RulePassages, RulesetPage
from services.gateway.web.problem_details import VARY_HEADER
from services.rulebook import extract_passages, read_pages, title_of
from services.runtime.shipped_files import render_template

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

RULE_ID: Final = re.compile(r"(<strong>)?\b([A-Z]+-\d)\b(?:</strong>)?")
HTML_OR_JSON: Final = {"content": {"text/html": {"schema": {"type": "string"}}}}


class Rulebook(NamedTuple):
    """The rule pages in markdown by ruleset, and their passages by rule id and ruleset."""

    pages: Mapping[str, str]
    passages_by_rule: Mapping[str, Mapping[str, str]]


def read_rulebook() -> Rulebook:
    """The rulebook as it is installed; an app has it as `app.state.rulebook`."""
    pages = read_pages()
    return Rulebook(pages, extract_passages(pages))


async def _rulebook(request: Request) -> Rulebook:
    rulebook: Rulebook = request.app.state.rulebook
    return rulebook


async def _wants_html(accept: Annotated[str, Header(include_in_schema=False)] = "") -> bool:
    return "text/html" in accept


RulebookParam = Annotated[Rulebook, Depends(_rulebook)]
WantsHtml = Annotated[bool, Depends(_wants_html)]

router = APIRouter(tags=["server"], responses=openapi.PROBLEM_RESPONSES)


@router.get(
    "/rules",
    summary="All rulesets and all rules",
    response_model=RuleIndex,
    responses={200: HTML_OR_JSON},
)
async def index(rulebook: RulebookParam, wants_html: WantsHtml, response: Response) -> RuleIndex | Response:
    if wants_html:
        return _html_response(_index_html(rulebook))
    response.headers.update(VARY_HEADER)
    rules = {**dict.fromkeys(rulebook.passages_by_rule), **EVERY_RULE}
    return RuleIndex(rulesets=list(rulebook.pages), rules=rules)


@router.get(
    "/rules/{rule}",
    summary="A rule's id in words, or a ruleset's whole page",
    response_model=RulePassages | RulesetPage,
    responses={200: HTML_OR_JSON},
)
async def rule(
    rulebook: RulebookParam, wants_html: WantsHtml, response: Response, rule: str
) -> RulePassages | RulesetPage | Response:
    if rule not in rulebook.pages and rule not in EVERY_RULE and rule not in rulebook.passages_by_rule:
        raise NotFoundError("SHAPE-1", f"there is no rule {rule[:40]}")
    passages = rulebook.passages_by_rule.get(rule, {})
    markdown = rulebook.pages.get(rule)
    if wants_html:
        return _html_response(
            _rule_html(rule, passages) if markdown is None else _ruleset_html(rule, markdown)
        )
    response.headers.update(VARY_HEADER)
    if markdown is not None:
        return RulesetPage(ruleset=rule, markdown=markdown)
    return RulePassages(rule=rule, text=EVERY_RULE.get(rule), passages=dict(passages))


def _html_response(html: str) -> HTMLResponse:
    return HTMLResponse(html, headers=VARY_HEADER)


def _ruleset_html(ruleset: str, markdown: str) -> str:
    return render_template(
        "services.gateway.routes", "ruleset.html", title=title_of(ruleset), rules=render_markdown(markdown)
    )


def _rule_html(rule: str, passage_by_ruleset: Mapping[str, str]) -> str:
    """The sentence, then each passage once, under the rulesets whose pages have it in the same words."""
    rulesets_by_passage: dict[str, list[str]] = {}
    for ruleset, passage in passage_by_ruleset.items():
        rulesets_by_passage.setdefault(passage, []).append(ruleset)
    return render_template(
        "services.gateway.routes",
        "rule.html",
        title=rule,
        title_of=title_of,
        sentence=EVERY_RULE.get(rule),
        passages={render_markdown(passage): names for passage, names in rulesets_by_passage.items()},
    )


def _index_html(rulebook: Rulebook) -> str:
    """Every ruleset with its aim, then every id with its sentence."""
    return render_template(
        "services.gateway.routes",
        "index.html",
        title="Rules",
        title_of=title_of,
        summaries={
            ruleset: render_markdown(_summary(markdown)) for ruleset, markdown in rulebook.pages.items()
        },
        sentences=EVERY_RULE,
        game_rules=[rule for rule in EVERY_RULE if rule not in MESSAGE_RULES],
        message_rules=list(MESSAGE_RULES),
        other_rules=sorted(rulebook.passages_by_rule.keys() - EVERY_RULE.keys()),
    )


def _summary(markdown: str) -> str:
    """Which game it is, and its aim: a page's first sentence and second paragraph."""
    _, introduction, aim = markdown.split("\n\n")[:3]
    return f"{introduction.split('. ')[0]}.\n\n{aim}"


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - a server starts before it is asked for a page

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def render_markdown(markdown: str) -> Markup:
    """A rule page's markdown as HTML; each id in it is an anchor, and links to its rule."""
    html = RULE_ID.sub(_anchor_rule, _markdown().render(markdown))
    return Markup(html)  # noqa: S704 - markdown-it escapes HTML in its text; an id is A-Z and a digit


def _anchor_rule(match: re.Match[str]) -> str:
    bold, rule = match.groups()
    link = f'<a href="/rules/{rule}">{rule}</a>'
    return f'<strong id="{rule}">{link}</strong>' if bold else link
