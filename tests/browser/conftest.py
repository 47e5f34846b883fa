"""A server with its pages, and the system's Chromium. Without that the tests are skipped, with a word on why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from services.bootstrap.embedded import run_embedded_server
from tests.browser.chromium import DESKTOP, LIGHTER, find_chromium, launched
from tests.many_clients import settings_for_many_clients


class OpenPage:
    """Opens pages, each in a browser context of its own. At the end none may have printed anything on its console but
    lines with one of `expected`, which a test adds to: each line is the text, and the address that it is about."""

    def __init__(self, chromium: Any, url: str) -> None:
        self.expected: list[str] = []
        self._chromium, self._url = chromium, url
        self._contexts: list[Any] = []  # Playwright's objects have no types here
        self._printed: list[str] = []

    def __call__(
        self,
        path: str = "/",
        size: dict[str, int] | None = None,
        script: str = "",
        guided: bool = False,
        motion: bool = False,  # nothing waits for what moves, but where that is looked at
        sockets: Callable[[Any], None] | None = None,  # which handles those of a table
        **more: object,
    ) -> Any:
        context = self._chromium.new_context(
            viewport=size or DESKTOP,
            base_url=self._url,
            reduced_motion="no-preference" if motion else "reduce",
            **more,
        )
        self._contexts.append(context)
        if not guided:  # who has played before
            context.add_init_script("try { localStorage.setItem('ledgerline.guide', 'done') } catch {}")
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.set_default_timeout(60_000)  # a busy machine is slow
        page.on("pageerror", lambda error: self._printed.append(str(error)))
        page.on("console", self._note)
        if sockets:
            page.route_web_socket("**/play*", sockets)
        page.goto(path)
        return page

    def _note(self, line: Any) -> None:
        if line.type in {"error", "warning"}:
            self._printed.append(f"{line.text} {line.location['url']}")

    def close(self) -> None:
        """Close all pages, and look at what they have printed."""
        for context in self._contexts:
            context.close()
        assert [line for line in self._printed if not any(part in line for part in self.expected)] == []


@pytest.fixture(scope="package")
def playwright() -> Iterator[Any]:
    api = pytest.importorskip(
        "playwright.sync_api", reason="`make browser` installs what the browser tests need"
    )
    with api.sync_playwright() as running:
        yield running


def started(playwright: Any, *names: str) -> Iterator[Any]:
    """The first of these browsers that there is, else the system's Chromium."""
    path = find_chromium(*names)
    if path is None:
        pytest.skip("there is no Chromium on this machine: install the system's package `chromium`")
    with launched(playwright, path) as browser:
        yield browser


@pytest.fixture(scope="package")
def chromium(playwright: Any) -> Iterator[Any]:
    yield from started(playwright, LIGHTER)


@pytest.fixture(scope="package")
def notifying_chromium(playwright: Any) -> Iterator[Any]:
    """A whole one, for pages that show notices."""
    yield from started(playwright)


@pytest.fixture(scope="package")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_embedded_server(tmp_path_factory.mktemp("server"), settings_for_many_clients()) as running:
        yield running.url


@pytest.fixture(scope="package")
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
def open_page(chromium: Any, url: str) -> Iterator[OpenPage]:
    opened = OpenPage(chromium, url)
    yield opened
    opened.close()
