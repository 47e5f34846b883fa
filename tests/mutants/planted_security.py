"""Planted bugs of security: each opens one of the attacks of tests/security."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

FOREIGN_TEXT: Final = ("tests/security/test_foreign_text.py",)

SECURITY_MUTANTS: Final = (
    Mutant(
        "a name on the command line is read as markup", "security", "services/cli/output.py",
        "            emoji=False,\n            markup=False,\n            highlight=highlight",
        "            emoji=False,\n            markup=True,\n            highlight=highlight", FOREIGN_TEXT,
    ),
    Mutant(
        "an escape sequence reaches the terminal", "security", "services/cli/output.py",
        "            visible_text(text),", "            text,", FOREIGN_TEXT,
    ),
    Mutant(
        "an escape sequence reaches a terminal in a traceback", "security", "services/runtime/logging_setup.py",
        ", exception_formatter=_write_traceback", "", FOREIGN_TEXT,
    ),
)  # fmt: skip
