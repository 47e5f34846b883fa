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
html_theme_options = {
    "footer_icons": [],
    "top_of_page_buttons": [],
    "light_css_variables": {
        "toc-item-spacing-vertical": "0.7rem"
    },  # links of 24 px; the dark theme takes it over
}
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
LACKING = {  # furo gives these no name, level or focus: a reader without a screen or a mouse misses them
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
    '<div id="search-results">': '<h1>Search</h1><div class="found" id="search-results">',
}
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


def complete_pages(app: Sphinx, error: Exception | None) -> None:
    """Every page gets what the theme leaves out."""
    for page in Path(app.outdir).rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        for lacking, whole in LACKING.items():
            html = html.replace(lacking, whole)
        page.write_text(html, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
    app.connect("build-finished", complete_pages)
