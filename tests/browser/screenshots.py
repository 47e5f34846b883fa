"""Pictures of every page: `python -m tests.browser.screenshots [FOLDER]`, in light and dark, at two sizes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from services.bootstrap.embedded import run_embedded_server
from tests.browser.chromium import DESKTOP, PHONE, find_chromium, running_chromium
from tests.browser.players import act, keep_all, make_table
from tests.many_clients import settings_for_many_clients

LOOKS: Final = {
    "desktop-light": (DESKTOP, "light"),
    "desktop-dark": (DESKTOP, "dark"),
    "phone-light": (PHONE, "light"),
    "phone-dark": (PHONE, "dark"),
}
TURNS: Final = 60  # before the picture of a game that is being played


def picture_pages(browser: Any, url: str, folder: Path) -> None:
    """Take the pictures of all pages in one look after the other."""
    for look, (size, theme) in LOOKS.items():
        context = browser.new_context(viewport=size, color_scheme=theme, base_url=url)
        page = context.new_page()
        page.set_default_timeout(60_000)

        def take(name: str, page: Any = page, look: str = look) -> None:
            page.wait_for_timeout(200)
            page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)
            sys.stdout.write(f"{folder}/{name}-{look}.png\n")

        page.goto("/")
        page.locator(".create").wait_for()
        make_table(page, "", "", "greedy", board="Europe 47")
        take("waiting")
        page.goto("/")
        make_table(page, "", "greedy", "greedy", board="Europe 47")
        page.get_by_role("button", name="Start the game").click()
        page.locator(".offer").wait_for()
        take("tickets")
        keep_all(page)
        play(page)
        take("turn")
        page.locator(".actions button:has(.tally)").first.click()
        take("dialog")
        page.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="Look back").click()
        page.get_by_role("slider").wait_for()
        take("replay")
        page.goto("/")
        page.locator(".game").first.wait_for()
        take("lobby")
        context.close()


def play(page: Any) -> None:
    """Play a while, until it is this seat's turn again."""
    for turn in range(TURNS):
        if not act(page, turn):
            page.wait_for_timeout(60)
    for turn in range(TURNS):
        page.wait_for_timeout(600)  # what was sent is answered, and shown
        if page.locator(".actions button:has(.tally):not([disabled])").count():
            return
        act(page, turn)


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
        running_chromium(path) as browser,
    ):
        picture_pages(browser, server.url, folder)


if __name__ == "__main__":
    main()
