"""The system's Chromium, driven by Playwright: it downloads no browser of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
LIGHTER: Final = "chromium-headless-shell"  # a third less CPU, and it shows no notices
LAN_HOST: Final = "table.lan"  # this machine by a name that browsers don't trust on plain http
FLAGS: Final = (
    "--no-sandbox",  # a container's root can't have one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {LAN_HOST} 127.0.0.1",
)
DESKTOP: Final = {"width": 1280, "height": 900}
PHONE: Final = {"width": 390, "height": 844}
SIZES: Final = (  # that a table fits: a laptop, an upright tablet, a phone on its side and upright
    {"width": 1366, "height": 768}, {"width": 768, "height": 1024}, {"width": 844, "height": 390}, PHONE,
)  # fmt: skip


def find_chromium(*names: str) -> str | None:
    """The path of the first of these that the system has, else of its Chromium; None where there is none."""
    return next((path for name in (*names, *NAMES) if (path := shutil.which(name))), None)


@contextmanager
def running_chromium(path: str) -> Iterator[Any]:  # Playwright ships no types that can be checked without it
    """A browser without a window."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - of a requirements group of its own

    with sync_playwright() as playwright, launched(playwright, path) as browser:
        yield browser


@contextmanager
def launched(playwright: Any, path: str) -> Iterator[Any]:
    """A browser of a Playwright that runs: a thread has one of these."""
    browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
    try:
        yield browser
    finally:
        browser.close()
