"""Templates of the report. Everything put into one is escaped, but for `Markup`."""

from __future__ import annotations

from typing import Final

from markdown_it import MarkdownIt
from markupsafe import Markup

from services.runtime.html_templates import html_templates

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])


def markdown(text: str) -> Markup:
    """Markdown as HTML: no markup of its own, no links, no pictures."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704  # the renderer escapes what stands in the text


ENVIRONMENT: Final = html_templates("services.verification.report")
ENVIRONMENT.filters["markdown"] = markdown
