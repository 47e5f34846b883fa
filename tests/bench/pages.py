"""The pages in a browser: a click to the own move drawn, a cold load to the first board, what a table page weighs.

The server runs in this process with all its services, the browser is the system's Chromium without a window. Times are
taken by the page's own clock, up to the frame that shows the change.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import httpx

from services.bootstrap.embedded import run_embedded_server
from tests.bench.figure import Figure, Report, Size
from tests.browser.chromium import DESKTOP, find_chromium, running_chromium
from tests.browser.players import SeatedTable, keep_all
from tests.many_clients import settings_for_many_clients

CLICK_P95_MS: Final = 100
BOARD_MS: Final = 500
WEIGHT_KIB: Final = 300
CLICK: Final = """async () => {
  const held = () => [...document.querySelectorAll(".hand .count")].reduce((sum, each) => sum + Number(each.textContent), 0);
  const [before, start] = [held(), performance.now()];
  const drawn = new Promise((resolve) => {
    const watch = new MutationObserver(() => held() !== before && (watch.disconnect(), requestAnimationFrame(() => setTimeout(resolve))));
    watch.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  document.querySelector(".market button.deck").click();
  await drawn;
  return performance.now() - start;
}"""
FIRST_BOARD: Final = """new MutationObserver((_, watch) => {
  if (!document.querySelector("svg.board .route")) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.firstBoard = performance.now(); }));
}).observe(document, { subtree: true, childList: true });"""


def measure(size: Size, report: Report) -> Figure:
    with opened_table() as (browser, url, table):
        report("cold loads")
        boards = [cold_load(browser, url, table) for _ in range(size.of(20, 3))]
        report("what a page weighs")
        raw, compressed = weight(browser, url, table)
        report("clicks")
        clicks = own_moves(browser, url, table, size.of(60, 4))
    p95 = quantiles(clicks, n=20)[-1]
    return Figure(
        "the table in a browser: a click to the own move drawn; a cold load to the first board; its weight, compressed",
        f"p95 {p95:.0f} ms (p50 {median(clicks):.0f}); {median(boards):.0f} ms; {compressed / 1024:.0f} KiB"
        f" ({raw / 1024:.0f} as they are)",
        f"p95 under {CLICK_P95_MS} ms; under {BOARD_MS} ms; under {WEIGHT_KIB} KiB",
        p95 < CLICK_P95_MS and median(boards) < BOARD_MS and compressed < WEIGHT_KIB * 1024,
        {
            "clicks_ms": clicks,
            "click_p95_ms": p95,
            "first_board_ms": boards,
            "bytes": raw,
            "bytes_compressed": compressed,
        },
    )


@contextmanager
def opened_table() -> Iterator[tuple[Any, str, SeatedTable]]:
    """A browser, a server, and a table on the europe board with a person and a bot, which has started.

    Raises RuntimeError: there is no Chromium on this machine."""
    path = find_chromium()
    if path is None:
        raise RuntimeError("there is no Chromium on this machine: install the system's package `chromium`")
    with (
        tempfile.TemporaryDirectory() as data,
        run_embedded_server(Path(data), settings_for_many_clients()) as server,
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http,
        running_chromium(path) as browser,
    ):
        table = SeatedTable(http, "europe", cars=45, last_cars=2)
        table.start()
        yield browser, server.url, table


def open_page(browser: Any, url: str, table: SeatedTable, script: str = "") -> Any:
    """The table's page, in a browser that has loaded nothing yet."""
    context = browser.new_context(viewport=DESKTOP, base_url=url)
    context.add_init_script(table.known_seat(0) + ";" + script)
    page = context.new_page()
    page.goto(f"/table/{table.game}")
    page.wait_for_selector("svg.board .route")
    return page


def cold_load(browser: Any, url: str, table: SeatedTable) -> float:
    """Milliseconds from the navigation to the frame that shows the board."""
    page = open_page(browser, url, table, FIRST_BOARD)
    page.wait_for_function("window.firstBoard")
    took: float = page.evaluate("window.firstBoard")
    page.context.close()
    return took


def weight(browser: Any, url: str, table: SeatedTable) -> tuple[int, int]:
    """Bytes of all that the page loads, as they are and compressed one by one."""
    bodies: list[bytes] = []
    context = browser.new_context(viewport=DESKTOP, base_url=url)
    context.add_init_script(table.known_seat(0))
    page = context.new_page()
    page.on("requestfinished", lambda request: bodies.append(request.response().body()))
    page.goto(f"/table/{table.game}")
    page.wait_for_selector("svg.board .route")
    page.wait_for_load_state("networkidle")
    context.close()
    return sum(map(len, bodies)), sum(len(gzip.compress(body)) for body in bodies)


def own_moves(browser: Any, url: str, table: SeatedTable, moves: int) -> list[float]:
    """Milliseconds from a click on the deck to the frame that shows one card more, each in the seat's own turn."""
    page = open_page(browser, url, table)
    page.locator(".offer, .market button.deck").first.wait_for()
    if page.locator(".offer").count():
        keep_all(page)
    took = []
    for _ in range(moves):
        page.locator(".market button.deck:not([disabled])").wait_for()
        took.append(page.evaluate(CLICK))
    page.context.close()
    return took
