"""`make check`: lint, format, types, imports and stale files, of Python and of the pages; at its end, what to do.

Every check runs, also after one that failed, so that one run shows all there is to do. mypy's parallel workers may die on a busy machine: then it runs once more, in one process.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

BIN: Final = Path(sys.executable).parent
ROOT: Final = Path(__file__).parents[1]
CRASH: Final = "INTERNAL ERROR"
ONE_PROCESS: Final = ("--num-workers", "0")  # with 1 it still starts a worker


class Check(NamedTuple):
    """A command that looks for something, and what to do about what it finds."""

    name: str
    command: Sequence[str]
    remedy: str


CHECKS: Final = (
    Check(
        "lint",
        ("ruff", "check", "."),
        "`.venv/bin/ruff check --fix .` does most of it; else follow the rule's link",
    ),
    Check("format", ("ruff", "format", "--check", "."), "run `.venv/bin/ruff format .`"),
    Check("types", ("mypy",), "make the types true; an exemption has its reason on the line"),
    Check(
        "imports",
        ("lint-imports", "--no-cache"),
        "a package imports those below it alone: move the code down, or the import up (pyproject.toml has the layers)",
    ),
    Check("schemas", ("python", "-m", "schemas.json_schema", "--check"), "run `make schemas`"),
    Check(
        "contracts",
        ("python", "-m", "schemas.contract_record"),
        "what logs hold may not change: a new version of the event, or `make contracts` for what is only new",
    ),
    Check("page types", ("python", "-m", "deploy.page_types", "--check"), "run `make page-types`"),
    Check("reference", ("python", "-m", "deploy.reference_pages", "--check"), "run `make reference`"),
    Check(
        "lint of the pages",
        ("oxlint", "--quiet", "--deny-warnings", "services/gateway/pages", "examples"),
        "follow the rule's link",
    ),
    Check(
        "format of the pages",
        ("oxfmt", "--check", "services/gateway/pages/**/*.js"),
        "run `.venv/bin/oxfmt 'services/gateway/pages/**/*.js'`",
    ),
    Check(
        "lint of the Dockerfile",
        ("hadolint", "deploy/Dockerfile"),
        "follow the rule's link; an exemption has its reason above it",
    ),
    Check("types of the pages", ("node", "node_modules/typescript-7/bin/tsc"), "make the JSDoc types true"),
)


def failed(check: Check) -> bool:
    """Run a check, and show what it found."""
    result = _run(check.command)
    if CRASH in result.stdout + result.stderr:
        sys.stdout.write(f"{check.name}: its workers crashed on a busy machine; once more in one process\n")
        result = _run((*check.command, *ONE_PROCESS))
    if result.returncode:
        sys.stdout.write(f"--- {check.name}\n{result.stdout}{result.stderr}")
    else:
        sys.stdout.write(f"{check.name}: all well\n")
    sys.stdout.flush()
    return result.returncode != 0


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    program, *words = command
    return subprocess.run(  # noqa: S603 - the commands above
        [str(BIN / program), *words], check=False, cwd=ROOT, capture_output=True, text=True
    )


def main(checks: Sequence[Check] = CHECKS) -> int:
    """Run them all, two at a time: most keep one core busy. Returns the exit code: 1 if there is something to do."""
    with ThreadPoolExecutor(2) as pool:
        found = [
            check for check, has_found in zip(checks, pool.map(failed, checks), strict=True) if has_found
        ]
    if not found:
        return 0
    sys.stdout.write("\nWhat to do:\n")
    for check in found:
        sys.stdout.write(f"  {check.name}: {check.remedy}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
