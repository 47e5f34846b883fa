"""The house's habits, checked: functions fit a screen, modules a sitting, names say something."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for top in ("schemas", "services", "tests") for path in (ROOT / top).rglob("*.py"))
FUNCTION_MOST, MODULE_MOST = 50, 300
VAGUE = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "data", "process"}
ROUTES = {"_game_routes", "_play_routes", "_house_routes", "install"}  # rows of small handlers


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_fit_what_a_reader_can_hold(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MODULE_MOST
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in ROUTES:
            assert (node.end_lineno or 0) - node.lineno < FUNCTION_MOST, node.name


def test_no_name_is_vague() -> None:
    assert not [path for path in SOURCES if path.stem in VAGUE]


def test_no_public_module_goes_without_saying_what_it_is_for() -> None:
    silent = [
        path
        for path in SOURCES
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []
