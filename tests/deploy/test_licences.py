"""docs/reference/licences.md: the licence of every package that is installed beside the product."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

SCRIPT: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "deploy" / "licence_page.py"))
TEXT = " ".join(SCRIPT["PAGE"].read_text(encoding="utf-8").split())
ROWS = {
    package: licence
    for licence, named in re.findall(r"- \*\*(.+?):\*\* (.+?)\.(?= - |$)", TEXT)
    for package in named.split(", ")
}
ELSEWHERE = "(only on other systems)"


def test_the_page_lists_every_installed_package_and_no_other() -> None:
    assert sorted(ROWS) == sorted(SCRIPT["packages"]())
    assert len(ROWS) > 30


def test_the_page_names_the_licence_that_each_package_names_itself() -> None:
    named = {package: SCRIPT["licence_of"](package) for package in ROWS}
    differ = {package: licence for package, licence in named.items() if ROWS[package] != licence}
    assert {
        package for package, licence in differ.items() if ELSEWHERE not in (licence, ROWS[package])
    } == set()
    assert not any("names none" in licence for licence in ROWS.values())
