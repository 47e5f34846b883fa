"""The pages in Markdown: their fenced blocks, their headings, their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import Final, NamedTuple

from tests.structure import ROOT, pages

FENCE: Final = re.compile(r"^ *```(\w*) ?(.*?)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAMES: Final = [page.relative_to(ROOT).as_posix() for page in pages()]


class Block(NamedTuple):
    """A fenced block: its language, what else stands behind the fence, its text, and the line of its fence."""

    language: str
    words: str
    text: str
    line: int


class Link(NamedTuple):
    """Where a link of a page leads: a path from the top of the checkout, and a heading there, or none."""

    path: str
    heading: str


@cache
def read(name: str) -> str:
    """A page's text."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str) -> list[Block]:
    """A page's fenced blocks, in order."""
    text = read(name)
    return [
        Block(
            found[1],
            found[2],
            re.sub(r"^   ", "", found[3]) if found[0].startswith(" ") else found[3],
            text.count("\n", 0, found.start()) + 1,
        )
        for found in FENCE.finditer(text)
    ]


def prose(name: str) -> str:
    """A page's text without its blocks."""
    return FENCE.sub("", read(name))


def links(name: str) -> Iterator[Link]:
    """A page's links to files of the checkout."""
    for target in LINK.findall(prose(name)):
        if not re.match(r"[a-z]+:|/", target):
            path, _, heading = target.partition("#")
            yield Link(normpath(Path(name).parent / path) if path else name, heading)


def pages_of_the_guide() -> list[str]:
    """The pages of which `make docs` makes the site."""
    [listed] = re.findall(r"^include_patterns = \[(.*?)^\]", read("docs/conf.py"), re.MULTILINE | re.DOTALL)
    patterns = re.findall(r'"([^"]+)"', listed)
    return [name for name in NAMES if any(fnmatch(name, pattern) for pattern in patterns)]


@cache
def anchors(name: str) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub and the guide's generator make them."""
    found: dict[str, int] = {}
    result = set()
    for heading in HEADING.findall(prose(name)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
        result.add(f"{slug}-{found[slug]}" if slug in found else slug)
        found[slug] = found.get(slug, 0) + 1
    return frozenset(result)
