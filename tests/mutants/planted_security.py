"""Planted bugs of security: each opens one of the attacks of tests/security."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant

LONGEST_TRAIL: Final = ("tests/rules/test_longest_trail.py",)
FOREIGN_TEXT: Final = ("tests/security/test_foreign_text.py",)

SECURITY_MUTANTS: Final = (
    Mutant(
        "guesses at the longest trail never end", "security", "services/referee/rules/search/longest_trail.py",
        "        self.guesses_left -= 1\n", "", (*LONGEST_TRAIL, "tests/security/test_endless_search.py"),
    ),
    Mutant(
        "a sweep takes the cities as they come", "security", "services/referee/rules/search/sweep_order.py",
        "        city = min(waiting, key=growth)\n", "        city = next(iter(waiting))\n", LONGEST_TRAIL,
    ),
    Mutant(
        "what lies beyond a bridge is swept with the rest", "security",
        "services/referee/rules/search/trail_over_bridges.py",
        "        if earliest == visits[city]:", "        if not visits[city]:", LONGEST_TRAIL,
    ),
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
