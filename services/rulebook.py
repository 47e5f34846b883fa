"""The rule pages and their passage on each rule: the gateway shows them, the auditor cites them.

The pages are docs/rules, and those that games bring: beside the packages in a checkout and in the image, and in the shared folder
where the packages were installed from a wheel.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from schemas.refusals import BROUGHT_PAGES
from services.runtime.logging_setup import get_logger

log = get_logger("rules")
PAGE_FOLDERS: Final = (
    Path(__file__).parents[1] / "docs" / "rules",
    Path(sys.prefix) / "share" / "ledgerline" / "rules",
)
RULE_PATTERN: Final = re.compile(r"^- \*\*([A-Z]+-\d)\*\* (.*(?:\n(?:  .+|(?=\n  \S)))*)", re.MULTILINE)


def read_pages(folders: Sequence[Path] = PAGE_FOLDERS) -> dict[str, str]:
    """The rule pages by ruleset, from the first of these folders that exists; none if none does. Then the sentences
    of the refusals have to do."""
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        log.warning("there are no rule pages", looked_in=[str(folder) for folder in folders])
        return {**BROUGHT_PAGES}
    return BROUGHT_PAGES | {
        path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))
    }


def extract_passages(pages: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The passages of the pages, by rule id and then by ruleset."""
    passages_by_rule: dict[str, dict[str, str]] = {}
    for ruleset, text in pages.items():
        for rule, passage in RULE_PATTERN.findall(text):
            passages_by_rule.setdefault(rule, {})[ruleset] = re.sub(r"^  ", "", passage, flags=re.MULTILINE)
    return passages_by_rule
