"""The pictures with which the tutorials begin: `python -m tests.guide.pictures [NAME ...]` follows each page and takes them anew.

A terminal is drawn by rich, a page or a board in Chromium; docs/pictures has them. docs/pictures/table.png is one of
`make screenshots`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, Final

import httpx
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from tests.browser.chromium import find_chromium, running_chromium
from tests.guide.markdown_pages import blocks
from tests.guide.page_run import SCRIPTS, WRITTEN, Reader, reader
from tests.structure import ROOT

FOLDER: Final = ROOT / "docs" / "pictures"
SIZE: Final = {"width": 1100, "height": 700}
TERMINALS: Final = {"python-bot": 12, "javascript-bot": 12, "course": 16}  # and how many lines
LOBBY: Final = ("usa", "europe", "marklin", "trains")


def take(name: str) -> None:
    """Follow a tutorial, and take its picture."""
    with tempfile.TemporaryDirectory() as folder, reader(Path(folder)) as one:
        shown: list[str] = []
        for block in blocks(f"docs/tutorials/{name}.md"):
            if block.language in {*SCRIPTS, "sh", *WRITTEN}:
                printed = one.do(block)
                shown += _as_in_a_terminal(block.text, printed) if block.language == "sh" else []
        if name in TERMINALS:
            draw_terminal(name, shown[: TERMINALS[name]])
        elif name == "board":
            (FOLDER / "islands.svg").write_bytes((Path(folder) / "islands.svg").read_bytes())
        else:
            take_page(name, one, Path(folder))


def _as_in_a_terminal(text: str, printed: str) -> list[str]:
    return [f"[bold green]$[/] {line}" for line in text.splitlines()] + printed.splitlines()


def draw_terminal(name: str, lines: list[str]) -> None:
    """A terminal with these lines. No font is fetched from anywhere."""
    console = Console(record=True, width=96, file=StringIO(), highlight=False)
    for line in lines:
        console.print(line)
    form = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    svg = console.export_svg(title="a terminal", code_format=form, unique_id=name)
    (FOLDER / f"{name}.svg").write_text(re.sub(r"[ \t]+\n", "\n", svg), encoding="utf-8")


def take_page(name: str, one: Reader, folder: Path) -> None:
    """The page that a tutorial leaves, or the lobby of its server."""
    files = {"disputed-move": ("verdict.html", "audit.png"), "research": ("policies.html", "research.png")}
    with open_page() as page:
        if name in files:
            file, picture = files[name]
            page.goto((folder / file).as_uri())
        else:
            picture = (
                "lobby.jpg"  # it shows eight painted boards, which as a PNG are half a release's pictures
            )
            url = f"http://127.0.0.1:{one.port('8720')}"
            for ruleset in LOBBY:
                seats = [{"kind": "human", "name": None}, {"kind": "bot", "policy": "greedy"}]
                body = {"ruleset": ruleset, "seats": seats, "visibility": "public"}
                httpx.post(f"{url}/v1/games", json=body).raise_for_status()
            page.goto(url)
            page.locator(".game").first.wait_for()
        page.screenshot(path=FOLDER / picture)


@contextmanager
def open_page() -> Iterator[Any]:  # Playwright ships no types that can be checked without it
    """A page in Chromium. Ends the program where there is none."""
    path = find_chromium()
    if path is None:
        sys.exit("pictures are taken in Chromium: install it, then `make browser`")
    with running_chromium(path) as browser:
        yield browser.new_page(viewport=SIZE)


if __name__ == "__main__":
    for name in sys.argv[1:] or (*TERMINALS, "board", "disputed-move", "research", "club"):
        take(name)
        sys.stdout.write(f"{name}\n")
