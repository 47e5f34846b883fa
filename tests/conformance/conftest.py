"""The outside cases lie beside the repository. A clone without them runs all other tests; a
check that is meant to have them (CI) must not leave them out silently."""

from __future__ import annotations

import os

import pytest

from tests.conformance.recorded import CASES

collect_ignore_glob = [] if CASES.is_dir() else ["test_*.py"]


def pytest_report_header(config: pytest.Config) -> str | None:
    return None if CASES.is_dir() else f"no outside cases at {CASES}: tests/conformance is left out"


if os.environ.get("CI") and not CASES.is_dir():
    raise RuntimeError(f"CI runs the outside cases, and there are none at {CASES}")
