"""How `make docs` makes a site of the pages: Sphinx reads the Markdown as GitHub does, furo has search and a dark mode.

All that a page of the site needs lies beside it: no font or script comes from elsewhere, so it works from a folder, any
static host, or the gateway's `/guide`. Sphinx is the oldest such program and still well kept, and MyST reads CommonMark;
mkdocs-material is at its end, zensical at version 0.1, and both want lists indented otherwise than ours are.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

from services.rulebook import read_pages

project = "Ledgerline"
author = copyright = "Ledgerline contributors"
extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["smartquotes"]
html_theme = "furo"
html_title = "Ledgerline"
html_favicon = "../services/gateway/pages/shared/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"footer_icons": [], "top_of_page_buttons": []}
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "docs/**/*.md",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "deploy/*.md",
]
exclude_patterns = ["**/.venv", "node_modules"]
suppress_warnings = [
    "misc.highlighting_failure",
    "toc.not_included",
]  # data has languages of its own; README is the door
highlight_language = "none"
FOLDERS = {
    "Tutorials": "tutorials",
    "How-to": "how-to",
    "Reference": "reference",
    "Explanation": "explanation",
}
OTHERS = ["../deploy/README", "../deploy/scale", "../SECURITY", "../CONTRIBUTING", "../CHANGELOG"]
TOP = Path(__file__).parents[1]
LINK = re.compile(
    r"\[([^\]]+)\]\(((?!https?:)[^)#\s]+(?:/|tests_by_rule\.md))\)"
)  # a folder, or a page of tests


def add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """The index lists every page for the menu: in Markdown, which people read on GitHub too, it has links alone."""
    if name.startswith("docs/reference/rules/"):  # whole, as the gateway shows it
        source[0] = read_pages().get(Path(name).name, source[0])
    source[0] = LINK.sub(r"\1", source[0])
    if name != root_doc:
        return
    for title, folder in FOLDERS.items():
        pages = sorted(
            path.relative_to(TOP / "docs").with_suffix("") for path in (TOP / "docs" / folder).rglob("*.md")
        )
        source[0] += _tree(title, [str(page) for page in pages])
    source[0] += _tree("The project", OTHERS)


def _tree(title: str, pages: list[str]) -> str:
    lines = "\n".join(pages)
    return f"\n\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{lines}\n```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
