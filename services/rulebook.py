"""The rule pages and their passage on each rule: the gateway shows them, the auditor cites them.

The pages are docs/reference/rules, each with what it shares with others from shared.md, and those that games bring.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from schemas.refusals import BROUGHT_PAGES
from services.runtime.logging_setup import get_logger
from services.runtime.shipped_files import shipped_file

log = get_logger("rules")
PAGES: Final = shipped_file("docs/reference/rules")
SHARED: Final = "shared"  # the page of what several games say alike; their pages name what holds for them
_SHARED_RULES: Final = re.compile(r"^- \[Shared\]\(shared\.md#rules\): ([A-Z0-9, -]+)\.\n", re.MULTILINE)
_SHARED_DECISIONS: Final = re.compile(r"^- \[Shared\]\(shared\.md#where[^)]*\): .*\n", re.MULTILINE)
_DECISION: Final = re.compile(r"^(- \*\*.+?\*\* \(.+?); (.+?)(\)\. .+(?:\n  .+)*\n)", re.MULTILINE)
RULE_PATTERN: Final = re.compile(r"^- \*\*([A-Z]+-\d)\*\* (.*(?:\n(?:  .+|(?=\n  \S)))*)", re.MULTILINE)


def read_pages(folder: Path = PAGES) -> dict[str, str]:
    """The rule pages by ruleset; none if the folder isn't there. Then the sentences of the refusals have to do."""
    if not folder.is_dir():
        log.warning("there are no rule pages", looked_in=str(folder))
        return {**BROUGHT_PAGES}
    pages = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    shared = pages.pop(SHARED, "")
    return BROUGHT_PAGES | {ruleset: _whole_page(ruleset, text, shared) for ruleset, text in pages.items()}


def _whole_page(ruleset: str, page: str, shared: str) -> str:
    """A ruleset's page with what it shares with others in the place where it names that."""
    items = {found[1]: f"{found[0]}\n" for found in RULE_PATTERN.finditer(shared)}
    page = _SHARED_RULES.sub(lambda found: "".join(items[rule] for rule in found[1].split(", ")), page)
    decided = "".join(
        f"{head}{rest}"
        for head, rulesets, rest in _DECISION.findall(shared)
        if ruleset in rulesets.split(", ")
    )
    return _SHARED_DECISIONS.sub(lambda _: decided, page)


@cache
def title_of(ruleset: str) -> str:
    """The name of a ruleset for people: the heading of its page; its own name where it has none."""
    heading, _, _ = read_pages().get(ruleset, "").partition("\n")
    return heading.removeprefix("# ") if heading.startswith("# ") else ruleset.capitalize()


def extract_passages(pages: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The passages of the pages, by rule id and then by ruleset."""
    passages_by_rule: dict[str, dict[str, str]] = {}
    for ruleset, text in pages.items():
        for rule, passage in RULE_PATTERN.findall(text):
            passages_by_rule.setdefault(rule, {})[ruleset] = re.sub(r"^  ", "", passage, flags=re.MULTILINE)
    return passages_by_rule
