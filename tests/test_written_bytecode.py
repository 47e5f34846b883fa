"""What is written before the workers start is what they read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import _read_pyc

from tests.written_bytecode import bytecode, is_written, python_files, write


@pytest.fixture(autouse=True)
def _beside_their_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", None)


@pytest.mark.parametrize("name", ["test_one.py", "conftest.py"])
def test_pytest_finds_a_test_module_rewritten(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    source.write_text("assert 1 + 1 == 2\n")
    write(source)
    code = _read_pyc(source, bytecode(source))
    assert code is not None
    assert "@pytest_ar" in code.co_names
    assert is_written(source)


def test_python_finds_any_other_module_compiled(tmp_path: Path) -> None:
    source = tmp_path / "scene.py"
    source.write_text("assert 1 + 1 == 2\n")
    write(source)
    assert [file.name for file in (tmp_path / "__pycache__").iterdir()] == [bytecode(source).name]
    assert is_written(source)


def test_a_module_that_changed_is_written_anew(tmp_path: Path) -> None:
    source = tmp_path / "test_one.py"
    source.write_text("assert 1 + 1 == 2\n")
    write(source)
    changed_s = source.stat().st_mtime + 10
    os.utime(source, (changed_s, changed_s))
    assert not is_written(source)


def test_every_module_of_tests_and_services_is_among_them() -> None:
    among = {*python_files()}
    assert {Path(__file__), Path(str(sys.modules["services.ledger"].__file__))} <= among
