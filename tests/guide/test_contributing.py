"""CONTRIBUTING is true: every file, module and target that a checklist names is there."""

from __future__ import annotations

import re

import pytest
import yaml

from deploy.quick_checks import CHECKS
from tests.guide.markdown_pages import read
from tests.structure import ROOT

PAGE = read("CONTRIBUTING.md")
CHECKLISTS = re.findall(r"^\*\*(An? \w+)\*\*.*?(?=^\*\*An? |^## )", PAGE, re.MULTILINE | re.DOTALL)
CODE = re.findall(r"`([^`\n]+)`", PAGE)
PATHS = sorted({words for words in CODE if re.fullmatch(r"[\w./-]+(\.\w+|/)", words)})


def test_there_is_a_checklist_for_each_thing_that_people_add() -> None:
    assert CHECKLISTS == ["A rule", "An event", "A board", "A command", "A figure", "A page"]


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_is_named_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_a_target_or_a_module_that_is_named_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", PAGE)) - targets == set()
    for module in re.findall(r"`python -m ([\w.]+)", PAGE):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()


def test_what_must_be_in_a_file_is_in_it() -> None:
    named = re.findall(r"`(\w+)` in `([\w./]+\.py)`", PAGE)
    assert ("PANELS", "services/cli/app.py") in named
    for name, path in named:
        assert re.search(rf"^{name}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_bench_module_is_listed_as_the_checklist_says() -> None:
    listed = (ROOT / "tests/bench/__main__.py").read_text(encoding="utf-8")
    modules = [
        path for path in (ROOT / "tests/bench").glob("*.py") if "def measure(" in path.read_text("utf-8")
    ]
    assert [path.stem for path in modules if not re.search(rf"^    {path.stem},$", listed, re.M)] == []


def test_a_commit_runs_the_same_checks_as_make_check() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    [hook] = config["repos"][0]["hooks"]
    assert hook["entry"] == "make check"
    assert re.search(
        r"^check: .*\n\t@\$\(BIN\)/python -m deploy\.quick_checks$",
        (ROOT / "Makefile").read_text("utf-8"),
        re.M,
    )
    assert CHECKS


def test_every_top_folder_of_the_code_has_its_line() -> None:
    table = PAGE.split("## The folders")[1].split("## Checklists")[0]
    packages = [path.parent for path in (ROOT / "services").glob("*/__init__.py")]
    assert [name for name in (f"services/{path.name}/" for path in packages) if name not in table] == []
