"""What keeps a page from people: axe-core's rules of WCAG 2.2 AA, in both themes and both sizes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, TypeAlias

import httpx
import pytest

from tests.browser.chromium import DESKTOP, PHONE
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, keep_all, make_tricks, wait_for_audit
from tests.deploy.compose import ROOT

pytestmark = pytest.mark.long
TAGS = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
Pages: TypeAlias = Iterator[tuple[str, Any]]  # by name; Playwright's have no types here
LOOKS = [(size, theme) for size in (DESKTOP, PHONE) for theme in ("light", "dark")]


def violations(page: Any) -> list[str]:
    """What axe-core finds on a page: the rule, and the first places. The board is one picture with a name: what it is
    drawn of isn't looked at, and is hidden, because looking at it takes most of the time."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - of a requirements group of its own

    found = []
    page.add_style_tag(content="svg.board > * { display: none }")
    for size, theme in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        options = {"runOnly": TAGS, "resultTypes": ["violations"]}
        for each in Axe().run(page, options=options).response["violations"]:
            found += [
                f"{theme}, {size['width']} px: {each['id']}: {node['html'][:160]}"
                for node in each["nodes"][:2]
            ]
    page.set_viewport_size(DESKTOP)
    return found


def of_the_lobby(open_page: OpenPage, _: httpx.Client) -> Pages:
    """The lobby with all that may be chosen, and the record of a device without games."""
    lobby = open_page("/", bypass_csp=True)  # axe-core measures with styles that the policy refuses
    lobby.locator(".create").wait_for()
    for folded in lobby.locator(".create summary").all():
        folded.click()
    yield "lobby", lobby
    lobby.get_by_role("button", name="My record").click()
    lobby.locator("dialog[open]").wait_for()
    yield "no record", lobby


def of_a_table(open_page: OpenPage, http: httpx.Client) -> Pages:
    """A train game's table in every state that looks different."""
    table = SeatedTable(http, "europe")
    page = table.open(open_page, 0, bypass_csp=True)
    yield "waiting", page
    page.get_by_role("button", name="Start the game").click()
    page.locator(".offer").wait_for()
    yield "tickets", page
    keep_all(page)
    page.locator(".actions button:has(.tally)").first.wait_for()
    yield "turn", page
    page.locator(".actions button:has(.tally)").last.click()
    page.locator("dialog summary").first.click()
    yield "dialog", page
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Look back").click()
    page.get_by_role("slider").wait_for()
    page.locator(".key summary").click()
    yield "replay", page
    page.get_by_role("button", name="Back to now").click()
    page.keyboard.press("w")
    page.locator(".text-board summary").nth(1).click()
    yield "in words", page
    watching = open_page(f"/table/{table.game}", bypass_csp=True)
    watching.get_by_text("You are watching").wait_for()
    yield "watching", watching


def of_a_table_that_was_left(open_page: OpenPage, http: httpx.Client) -> Pages:
    """What who comes back is told, and the end of a game that others have left and offer again."""
    table = SeatedTable(http, people=2, bots=0)
    table.start()
    table.draw_cards(3)  # of which one chose tickets
    page = table.open(open_page, 0, bypass_csp=True)
    page.locator(".since li").first.wait_for()
    yield "since", page
    for token in reversed(table.tokens):
        headers = {"Authorization": f"Bearer {token}"}
        http.post(f"/v1/games/{table.game}/leave", headers=headers).raise_for_status()
    wait_for_audit(http, table.game)
    page.locator(".held").first.wait_for()
    headers = {"Authorization": f"Bearer {table.tokens[1]}"}
    http.post(f"/v1/games/{table.game}/rematch", headers=headers).raise_for_status()
    page.get_by_text("Join the rematch").wait_for()
    yield "rematch", page


def of_a_table_in_parts(open_page: OpenPage, _: httpx.Client) -> Pages:
    """The table of a game in parts."""
    page = open_page("/", bypass_csp=True)
    make_tricks(page)
    page.locator(".parts button").first.wait_for()
    yield "parts", page
    page.get_by_role("button", name=re.compile(r"^Play ?\d")).click()
    page.locator("dialog[open] .choice").first.wait_for()
    yield "dialog of parts", page


def of_a_finished_game(open_page: OpenPage, http: httpx.Client) -> Pages:
    """The end of a game, its analysis, its audit, and the record that it stands in."""
    over = SeatedTable(http)
    over.start()
    over.play_until()
    wait_for_audit(http, over.game)
    page = over.open(open_page, 0, bypass_csp=True)
    page.locator(".result").wait_for()
    page.get_by_role("button", name="Analyse").click()
    page.locator(".analysis progress").wait_for()
    page.locator(".analysis").get_by_role("button", name="Stop").click()
    yield "over", page
    page.goto("/")
    page.get_by_role("button", name="My record").click()
    page.locator(".record tbody tr").wait_for()
    page.get_by_role("button", name="Clear …").click()
    yield "record", page
    page.goto(f"/audit/{over.game}#at=6")
    page.locator(".move").wait_for()
    yield "audit", page


def that_need_no_script(open_page: OpenPage, _: httpx.Client) -> Pages:
    """The API, the rules, and what a wrong address shows."""
    page = open_page("/docs", bypass_csp=True)
    for call in page.locator("summary").filter(has_text="/v1/games").all()[:6]:
        call.click()
    page.get_by_text("Example", exact=True).locator("visible=true").first.click()
    yield "/docs, six calls opened and all others closed", page
    for path in ("/rules", "/rules/usa", "/rules/ROUTE-1"):
        yield path, open_page(path, bypass_csp=True)
    yield "wrong address", open_page("/nowhere", bypass_csp=True)
    open_page.expected.append("/nowhere")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Requests aren't printed."""


def of_the_guide(open_page: OpenPage, _: httpx.Client) -> Pages:
    """The guide's site: what is in each of its pages, a row of code, a wide table, the search."""
    with TemporaryDirectory() as folder:
        build = ("-q", "-W", "-b", "html", "-d", f"{folder}/doctrees", "-c", "docs", ".", f"{folder}/site")
        subprocess.run([sys.executable, "-m", "sphinx", *build], cwd=ROOT, check=True)
        with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=f"{folder}/site")) as host:
            Thread(target=host.serve_forever).start()
            page = open_page("/rules", bypass_csp=True)
            try:
                for name in ("docs/index", "docs/tutorials/game-night", "docs/reference/settings", "search"):
                    page.goto(f"http://127.0.0.1:{host.server_port}/{name}.html")
                    yield name, page
            finally:
                host.shutdown()


@pytest.mark.parametrize(
    "pages",
    [
        of_the_lobby,
        of_a_table,
        of_a_table_in_parts,
        of_a_table_that_was_left,
        of_a_finished_game,
        of_the_guide,
        that_need_no_script,
    ],
)
def test_WCAG_2_2_AA_holds_on_every_page(
    open_page: OpenPage, http: httpx.Client, pages: Callable[[OpenPage, httpx.Client], Pages]
) -> None:
    found = {name: violations(page) for name, page in pages(open_page, http)}
    assert {name: faults for name, faults in found.items() if faults} == {}
