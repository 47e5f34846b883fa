"""Templates of the report. Everything put into one is escaped, but for `Markup`."""

from __future__ import annotations

from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])


def markdown(text: str) -> Markup:
    """Markdown as HTML: no markup of its own, no links, no pictures."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704  # the renderer escapes what stands in the text


ENVIRONMENT: Final = Environment(
    loader=PackageLoader("services.verification.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters["markdown"] = markdown
