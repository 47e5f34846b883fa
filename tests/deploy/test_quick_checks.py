"""`make check` runs every check, says at its end what to do, and survives a busy machine."""

from __future__ import annotations

import re

import pytest

from deploy.quick_checks import CHECKS, ROOT, Check, main

WELL = Check("well", ("python", "-c", "pass"), "nothing")
ILL = Check("ill", ("python", "-c", "print('found it'); raise SystemExit(1)"), "run `make well`")
BUSY = Check(
    "busy",
    ("python", "-c", "import sys; sys.exit(0 if '--num-workers' in sys.argv else 'error: INTERNAL ERROR')"),
    "wait",
)


def test_all_well_is_exit_code_0_and_no_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([WELL, WELL]) == 0
    assert "What to do" not in capsys.readouterr().out


def test_what_was_found_is_shown_and_the_last_lines_say_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([ILL, WELL]) == 1
    shown = capsys.readouterr().out
    assert "found it" in shown
    assert "well: all well" in shown
    assert shown.endswith("What to do:\n  ill: run `make well`\n")


def test_types_are_checked_in_one_process_once_the_workers_have_crashed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([BUSY]) == 0
    assert "once more in one process" in capsys.readouterr().out


def test_every_remedy_that_names_a_target_names_one_that_is_there() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = {target for check in CHECKS for target in re.findall(r"`make ([a-z-]+)`", check.remedy)}
    assert named
    assert named <= set(targets)
