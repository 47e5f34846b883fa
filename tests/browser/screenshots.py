"""Pictures of every page: `python -m tests.browser.screenshots [FOLDER]`, in light and dark, at four sizes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx

from services.bootstrap.embedded import run_embedded_server
from tests.browser.chromium import DESKTOP, SIZES, find_chromium, running_chromium
from tests.browser.players import SHORT, SeatedTable, make_tricks
from tests.many_clients import settings_for_many_clients

LOOKS: Final = {
    f"{size['width']}x{size['height']}-{theme}": (size, theme)
    for size in SIZES
    for theme in ("light", "dark")
}
TURNS: Final = 60  # entries before the picture of a game that is being played
Open: TypeAlias = Callable[[str, str], Any]  # Playwright's pages have no types here
Take: TypeAlias = Callable[[Any, str], None]


def picture_pages(browser: Any, url: str, http: httpx.Client, folder: Path) -> None:
    """Take the pictures of all pages: each page once, in one look after the other."""

    def open_page(path: str, script: str) -> Any:
        context = browser.new_context(viewport=DESKTOP, base_url=url, reduced_motion="reduce")
        context.add_init_script(script)
        page = context.new_page()
        page.set_default_timeout(300_000)  # a hint takes long on a busy machine
        page.goto(path)
        return page

    def take(page: Any, name: str) -> None:
        for look, (size, theme) in LOOKS.items():
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(200)
            page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)
            sys.stdout.write(f"{folder}/{name}-{look}.png\n")
        page.set_viewport_size(DESKTOP)

    for ruleset in SHORT:
        picture_table(SeatedTable(http, ruleset, bots=2, last_cars=2), ruleset, open_page, take)
    picture_finished(SeatedTable(http), open_page, take)
    parts = open_page("/", "")
    make_tricks(parts)
    parts.locator(".parts button").first.wait_for()
    take(parts, "parts")
    lobby = open_page("/", SeatedTable(http, "europe", people=2).known_seat(0))
    lobby.locator(".game").first.wait_for()
    take(lobby, "lobby")


def picture_table(table: SeatedTable, name: str, open_page: Open, take: Take) -> None:
    """A table before its start, and while it is played; of one ruleset also all that may stand open on it."""
    page = open_page(f"/table/{table.game}", table.known_seat(0))
    page.locator(".waiting").first.wait_for()
    if name == "europe":
        take(page, "waiting")
    table.start()
    page.locator(".actions .primary, .offer").first.wait_for()
    if name == "europe":
        take(page, "tickets")
    table.play_until(TURNS)
    page.locator(".actions .primary:not([disabled]), .result").first.wait_for()
    take(page, f"turn-{name}")
    if name != "europe":
        return
    page.locator(".actions .hint-key").click()
    page.locator("section.hint").wait_for()
    take(page, "hint")
    page.locator(".actions button:has(.tally)").first.click()
    take(page, "dialog")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Look back").click()
    page.get_by_role("slider").wait_for()
    take(page, "replay")


def picture_finished(table: SeatedTable, open_page: Open, take: Take) -> None:
    """A game that is over, and its audit."""
    table.start()
    table.play_until()
    page = open_page(f"/table/{table.game}", table.known_seat(0))
    page.locator(".result").wait_for()
    take(page, "over")
    page.get_by_role("button", name="Analyse").click()
    page.locator(".analysis progress").wait_for()
    page.locator(".analysis progress").wait_for(state="detached")
    take(page, "analysed")
    page.goto(f"/audit/{table.game}#at=6")
    page.locator(".move").wait_for()
    take(page, "audit")
    page.goto("/")
    page.get_by_role("button", name="My record").click()
    page.locator(".record tbody tr").wait_for()
    take(page, "record")
    page.goto("/docs")
    take(page, "docs")


def main() -> None:
    """Write the pictures into the folder that is named, or screenshots/."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    path = find_chromium()
    if path is None:
        sys.exit("there is no Chromium on this machine: install the system's package `chromium`")
    with (
        tempfile.TemporaryDirectory() as data,
        run_embedded_server(Path(data), settings_for_many_clients()) as server,
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http,
        running_chromium(path) as browser,
    ):
        picture_pages(browser, server.url, http, folder)


if __name__ == "__main__":
    main()
