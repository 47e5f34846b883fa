"""HTML that can't be broken by what stands in it: whatever isn't HTML already is escaped where it is put."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from markdown_it import MarkdownIt


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | None  # Html stays as it is, other text is escaped, None is left out

VOID_ELEMENTS: Final = frozenset({"circle", "line", "path", "rect", "br"})
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])


def escape_html(text: Content) -> Html:
    """The text as HTML."""
    if text is None:
        return Html()
    return text if isinstance(text, Html) else Html(escape(text))


def join_html(parts: Iterable[Content], between: str = "") -> Html:
    """Parts one after the other."""
    return Html(escape(between).join(escape_html(part) for part in parts))


def el(name: str, *children: Content, **attributes: str | float | bool | None) -> Html:
    """An element. An attribute's trailing underscore falls away, others become hyphens; None and
    False leave it out."""
    rendered = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        rendered.append(f' {attribute}="{"" if value is True else escape(str(value))}"')
    if name in VOID_ELEMENTS:
        return Html(f"<{name}{''.join(rendered)}/>")
    return Html(f"<{name}{''.join(rendered)}>{join_html(children)}</{name}>")


def row(*cells: Content, head: bool = False, **attributes: str | None) -> Html:
    """A row of a table; its first cell names it."""
    first, *rest = cells
    scope = "col" if head else "row"
    others = (el("th", cell, scope="col") if head else el("td", cell) for cell in rest)
    return el("tr", el("th", first, scope=scope), *others, **attributes)


def grid(heading: Html, rows: Iterable[Html], caption: Content = None, **attributes: str | None) -> Html:
    """A table that scrolls by itself where the paper is too narrow."""
    caption_html = el("caption", caption) if caption else None
    body = el("table", caption_html, el("thead", heading), el("tbody", *rows), **attributes)
    return el("div", body, class_="scrolls", tabindex="0", role="group")


def bullet_list(parts: Iterable[Content], **attributes: str | None) -> Html:
    """A list."""
    return el("ul", *(el("li", part) for part in parts), **attributes)


def markdown(text: str) -> Html:
    """Markdown as HTML: no markup of its own, no links, no pictures."""
    return Html(_MARKDOWN.render(text))
