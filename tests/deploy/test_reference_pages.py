"""The pages of docs/reference that `make reference` writes are those that the code says today."""

from __future__ import annotations

import re
from functools import cache

from deploy.reference_pages import FOLDER, pages, stale_pages
from services.cli.app import PANELS
from services.runtime.settings import Settings

built = cache(pages)


def test_no_page_is_stale() -> None:
    assert stale_pages() == [], "run `make reference`"


def test_every_command_has_a_heading_and_a_sentence() -> None:
    for name in (name for names in PANELS.values() for name in names):
        assert re.search(rf"^### ledgerline {name}\n\n[A-Z].+\.$", built()["commands.md"], re.M), name


def test_every_setting_has_a_row_with_its_meaning() -> None:
    rows = re.findall(r"^\| `LEDGERLINE_(\w+)` \| [^|]+ \| \S[^|]+\. \|$", built()["settings.md"], re.M)
    assert [name.lower() for name in rows] == [*Settings.model_fields]


def test_every_call_has_its_sentence() -> None:
    assert len(re.findall(r"^## (?:GET|POST|PUT|DELETE|WebSocket) /\S+\n\n\S", built()["http.md"], re.M)) > 40


def test_no_row_says_nothing_of_what_it_is() -> None:
    """A row that ends with an empty cell has no meaning: its source lacks a description."""
    for name in built():
        whats = re.findall(
            r"^\|.*\| what \|\n.*\n((?:\|.*\n)+)", (FOLDER / name).read_text(encoding="utf-8"), re.M
        )
        assert [row for rows in whats for row in rows.splitlines() if row.endswith("|  |")] == [], name
