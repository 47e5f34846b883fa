"""A server with its pages, and the system's Chromium. Without that the tests are skipped, with a word on why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from services.bootstrap.embedded import run_embedded_server
from tests.browser.chromium import DESKTOP, find_chromium, running_chromium
from tests.many_clients import settings_for_many_clients

OpenPage = Callable[..., Any]  # Playwright's pages have no types here


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    pytest.importorskip("playwright", reason="`make browser` installs what the browser tests need")
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium on this machine: install the system's package `chromium`")
    with running_chromium(path) as browser:
        yield browser


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
    """Opens pages, each in a browser context of its own. At the end none may have printed anything on its console."""
    contexts, printed = [], []

    def opened(
        path: str = "/",
        size: dict[str, int] | None = None,
        script: str = "",
        guided: bool = False,
        sockets: Callable[[Any], None] | None = None,  # which handles those of a table
        **more: object,
    ) -> Any:
        context = chromium.new_context(viewport=size or DESKTOP, base_url=url, **more)
        contexts.append(context)
        if not guided:  # who has played before
            context.add_init_script("try { localStorage.setItem('ledgerline.guide', 'done') } catch {}")
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.set_default_timeout(60_000)  # a busy machine is slow
        page.on("pageerror", lambda error: printed.append(str(error)))
        page.on(
            "console", lambda line: printed.append(line.text) if line.type in {"error", "warning"} else None
        )
        if sockets:
            page.route_web_socket("**/play*", sockets)
        page.goto(path)
        return page

    expected: list[str] = []
    opened.expected = expected  # type: ignore[attr-defined]  # a test adds what is in the lines that it causes
    yield opened
    for context in contexts:
        context.close()
    assert [line for line in printed if not any(part in line for part in expected)] == []
