"""HTML that can't be broken by what stands in it: whatever isn't HTML already is escaped where it is put."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from markdown_it import MarkdownIt


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Inside = str | None  # Html stays as it is, other text is escaped, None is left out

VOID: Final = frozenset({"circle", "line", "path", "rect", "br"})
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])


def safe(text: Inside) -> Html:
    """The text as HTML."""
    if text is None:
        return Html()
    return text if isinstance(text, Html) else Html(escape(text))


def run(parts: Iterable[Inside], between: str = "") -> Html:
    """Parts one after the other."""
    return Html(escape(between).join(safe(part) for part in parts))


def el(name: str, *inside: Inside, **attributes: str | float | bool | None) -> Html:
    """An element. An attribute's trailing underscore falls away, others become hyphens; None and
    False leave it out."""
    told = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = key.rstrip("_").replace("_", "-")
        told.append(f' {spelled}="{"" if value is True else escape(str(value))}"')
    if name in VOID:
        return Html(f"<{name}{''.join(told)}/>")
    return Html(f"<{name}{''.join(told)}>{run(inside)}</{name}>")


def row(*cells: Inside, head: bool = False, **attributes: str | None) -> Html:
    """A row of a table; its first cell names it."""
    first, *rest = cells
    scope = "col" if head else "row"
    others = (el("th", cell, scope="col") if head else el("td", cell) for cell in rest)
    return el("tr", el("th", first, scope=scope), *others, **attributes)


def grid(heading: Html, rows: Iterable[Html], caption: Inside = None, **attributes: str | None) -> Html:
    """A table that scrolls by itself where the paper is too narrow."""
    told = el("caption", caption) if caption else None
    body = el("table", told, el("thead", heading), el("tbody", *rows), **attributes)
    return el("div", body, class_="scrolls", tabindex="0", role="group")


def items(parts: Iterable[Inside], **attributes: str | None) -> Html:
    """A list."""
    return el("ul", *(el("li", part) for part in parts), **attributes)


def markdown(text: str) -> Html:
    """Markdown as HTML: no markup of its own, no links, no pictures."""
    return Html(_MARKDOWN.render(text))
