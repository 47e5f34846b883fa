"""Live and again: a connection that is lost comes back without a gap; a game is looked back through."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from services.referee.games import seat_changes
from tests.browser.chromium import PHONE
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, keep_all
from tests.silent_relay import silent_relay

NOTICED_MS = 12_000  # 10 s, and what a busy machine takes to draw it

pytestmark = pytest.mark.long  # test_games.py has the short form
COUNT_DRAWINGS = """() => {  // a drawing begins with the question of who has the focus
  const root = document.getElementById("page"), contains = root.contains;
  window.drawn = 0;
  root.contains = (element) => { window.drawn += 1; return contains.call(root, element); };
}"""


def test_a_lost_connection_comes_back_without_a_gap(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http, people=2, bots=0)
    table.start()
    ada = table.open(open_page, 0)
    keep_all(ada)
    sockets: list[Any] = []
    is_away = True

    def through(socket: Any) -> None:
        if is_away and sockets:
            socket.close(code=1001, reason="away")
            return
        server = socket.connect_to_server()

        def pass_on(message: str) -> None:
            socket.send(message)
            sockets.append(socket)

        server.on_message(pass_on)

    bo = table.open(open_page, 1, sockets=through)
    while not sockets:  # it isn't attached yet
        bo.wait_for_timeout(10)
    # when
    sockets[0].close(code=1001, reason="away")
    bo.locator(".banner.away").wait_for()
    assert "This is the table as of entry" in bo.locator(".banner.away").inner_text()
    is_away = False
    # then
    bo.locator(".banner.away").wait_for(state="detached")
    keep_all(bo)
    ada.locator(".actions").get_by_role("button", name="Draw blind").click()
    bo.locator(".sentence", has_text="Ada draws a card blind.").first.wait_for()


def test_who_moves_can_do_nothing_more_until_its_page_shows_the_move(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, people=2, bots=0)
    table.start()
    page = table.open(open_page, 0)
    held: list[Callable[[], None]] = []  # what the server sends from now on
    asked: list[str] = []
    is_holding = False

    def through(socket: Any) -> None:
        server = socket.connect_to_server()
        server.on_message(
            lambda text: held.append(partial(socket.send, text)) if is_holding else socket.send(text)
        )

    page.route_web_socket("**/play*", through)
    page.add_init_script("window.setInterval = () => 0")  # clocks are drawn each second
    page.reload()
    for seat in range(2):
        table.do_first(seat, "keep_tickets")
    blind = page.locator(".actions").get_by_role("button", name="Draw blind")
    blind.wait_for()
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(COUNT_DRAWINGS)
    # when
    is_holding = True
    blind.click()
    wait_in(page, lambda: bool(held))
    # then
    assert blind.is_disabled()
    held[0]()
    page.locator(".sentence", has_text="Ada draws").first.wait_for()
    wait_in(page, blind.is_enabled)
    asked_for = [url for url in asked if "/assets/" not in url]  # a drawn icon comes from the cache
    assert asked_for == [], "one round trip is enough"
    assert page.evaluate("window.drawn") == 2, "when it is sent, and with all that its entry brings"


def test_a_command_that_the_connection_does_not_answer_is_sent_another_way_and_counts_once(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, people=2, bots=0)
    table.start()
    page = table.open(open_page, 0)
    is_heard = True

    def through(socket: Any) -> None:
        server = socket.connect_to_server()
        server.on_message(lambda text: socket.send(text) if is_heard else None)

    page.route_web_socket("**/play*", through)
    page.reload()
    for seat in range(2):
        table.do_first(seat, "keep_tickets")
    blind = page.locator(".actions").get_by_role("button", name="Draw blind")
    blind.wait_for()
    before = http.get(f"/v1/games/{table.game}/state").json()["number"]
    # when
    is_heard = False
    blind.click()
    # then
    page.locator(".sentence", has_text="Ada draws").first.wait_for()
    assert http.get(f"/v1/games/{table.game}/state").json()["number"] == before + 1


def test_a_page_whose_network_dies_without_a_word_says_so_within_10_s_and_comes_back_by_itself(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, people=2, bots=0)
    table.start()
    for seat in range(2):
        table.do_first(seat, "keep_tickets")
    with silent_relay(str(http.base_url)) as relay:
        page = open_page(f"{relay.url}/table/{table.game}", script=table.known_seat(0))
        page.locator(".actions").get_by_role("button", name="Draw blind").wait_for()
        # when
        relay.die()
        # then
        page.locator(".banner.away").wait_for(timeout=NOTICED_MS)
        table.do_first(0, "draw_blind")
        relay.live()
        page.locator(".banner.away").wait_for(state="detached")
        page.locator(".sentence", has_text="Ada draws").first.wait_for()
    # the browser speaks of the openings that were given up
    open_page.expected.extend(["WebSocket connection", "ERR_"])


def test_a_page_comes_back_at_once_when_the_network_is_another_or_it_is_looked_at_again_after_long(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, people=2, bots=0)
    table.start()
    opened: list[Any] = []
    page = table.open(open_page, 0)
    page.on("websocket", lambda socket: opened.append(socket))  # noqa: PLW0108 - Playwright takes no built-in method
    # when
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_in(page, lambda: len(opened) == 1)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.evaluate("const now = performance.now(); performance.now = () => now + 8000")  # it slept
    assert len(opened) == 1, "it was heard from just now"
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    # then
    wait_in(page, lambda: len(opened) == 2)


def test_a_table_is_read_only_once_while_its_page_loads(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http)
    table.start()
    page = open_page("/", script=table.known_seat(0))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("?")[0].rpartition("/")[2]))
    # when
    page.goto(f"/table/{table.game}", wait_until="commit")
    # then
    page.locator("svg.board .route").first.wait_for()
    assert asked.count("state") == asked.count("board") == 1


def test_a_seat_leaves_while_it_waits_and_only_once(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http, people=3, bots=0)
    table.start()
    for seat in range(3):
        table.do_first(seat, "keep_tickets")
    page = table.open(open_page, 1)
    leave = page.get_by_role("button", name="Leave the game")
    # when
    leave.click()
    assert page.locator("#actions-title").inner_text() == "Wait for the others"
    page.locator("dialog[open]").get_by_role("button", name="Leave the table").click()
    # then
    leave.wait_for(state="detached")
    assert http.get(f"/v1/games/{table.game}/state").json()["seats"][1]["gone"] == "left"


def wait_in(page: Any, is_so: Callable[[], bool]) -> None:
    """Let the page go on until something is so."""
    while not is_so():
        page.wait_for_timeout(10)


def test_a_game_is_looked_back_through_with_the_slider(open_page: OpenPage, http: httpx.Client) -> None:
    table = SeatedTable(http)
    table.start()
    page = table.open(open_page, 0)
    keep_all(page)
    page.get_by_role("button", name="Look back").click()
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_text("Entry 1 of").first.wait_for()
    page.locator("main.table.waiting").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Entry 2 of").first.wait_for()
    page.get_by_role("button", name="Back to now").click()
    page.locator("main.table.playing .actions").wait_for()


def test_nothing_can_be_done_at_a_table_that_is_looked_back_at(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http)
    table.start()
    table.play_until()
    page = table.open(open_page, 0)
    # when
    page.get_by_role("button", name="Watch it again").click()
    page.locator("main.table.waiting").wait_for()
    # then
    page.get_by_text("Entry 1 of").first.wait_for()
    assert page.get_by_role("button", name=re.compile("Start the game|bot|invitation|seat")).count() == 0
    assert page.locator(".join").count() == 0


def test_what_was_not_done_because_the_server_was_away_is_said_until_it_is_back(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    page = SeatedTable(http, people=2, bots=0).open(open_page, 0)
    page.route("**/v1/**", lambda route: route.abort())
    # when
    page.get_by_role("button", name="Start the game").click()
    page.locator(".banner.refusal", has_text="can't be reached").wait_for()
    page.unroute("**/v1/**")
    # then
    page.locator(".banner.refusal").wait_for(state="detached")
    open_page.expected.append("ERR_")  # the requests that failed


def test_an_invitation_that_was_copied_is_told_until_the_game_starts(
    open_page: OpenPage, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    monkeypatch.setattr(seat_changes, "FREED_SEAT_RESTS_MS", 0)  # a freed seat can be taken at once
    table = SeatedTable(http, people=3, bots=0)
    table.http.post(
        f"/v1/games/{table.game}/seats/2/free", headers={"Authorization": f"Bearer {table.host}"}
    ).raise_for_status()
    page = table.open(open_page, 0)
    page.get_by_role("button", name="Copy an invitation").click()
    page.locator(".banner .link").wait_for()
    # when
    table.http.post(
        f"/v1/games/{table.game}/seats/2/bot",
        json={"policy": "random"},
        headers={"Authorization": f"Bearer {table.host}"},
    ).raise_for_status()
    table.start()
    # then
    page.locator(".offer").wait_for()
    assert page.locator(".banner").count() == 0


def test_who_watches_a_delayed_game_is_offered_no_seat_that_is_gone(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    delayed = {"visibility": "public", "spectator_delay": 20}
    table = SeatedTable(http, people=2, bots=0, access=delayed)
    # when
    lobby = open_page("/")
    lobby.get_by_role("link", name=re.compile(f"Look: .*{table.game}")).click()
    # then
    lobby.get_by_text("Every seat is taken").wait_for()
    assert lobby.get_by_role("button", name="Take this seat").count() == 0


def test_a_game_that_is_over_is_seen_as_any_seat_saw_it_from_a_link_to_a_moment(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http)
    table.start()
    table.play_until()
    # when
    page = open_page(f"/table/{table.game}#at=5&as=1")
    # then
    page.get_by_role("heading", name="greedy 2’s cards").wait_for()
    page.get_by_text("Entry 5 of").first.wait_for()
    page.get_by_label("Seen by").select_option(label="Ada")
    page.get_by_role("heading", name="Ada’s cards").wait_for()
    page.get_by_role("button", name="Moves").click()
    best = page.get_by_label("Best move")
    best.select_option(index=1)
    page.locator(".moves li.now", has_text=": +").wait_for()
    page.get_by_label("Speed").select_option("fast")
    page.get_by_role("button", name="Play").click()
    page.locator(".result").wait_for()


def test_on_a_phone_no_page_is_wider_than_the_screen(open_page: OpenPage, http: httpx.Client) -> None:
    width = "document.documentElement.scrollWidth"
    table = SeatedTable(http, "europe")
    lobby = open_page("/", size=PHONE, script=table.known_seat(0))
    lobby.get_by_role("button", name="Free the seat of").first.wait_for()
    assert lobby.evaluate(width) <= PHONE["width"]
    page = table.open(open_page, 0, size=PHONE)
    page.get_by_role("button", name="Start the game").click()
    page.locator(".offer").wait_for()
    assert page.evaluate(width) <= PHONE["width"]
    page.goto(f"/audit/{table.game}")
    page.locator(".checks").wait_for()
    assert page.evaluate(width) <= PHONE["width"]


def test_UNDO_1_a_move_is_taken_back_when_the_other_person_agrees(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http, people=2, bots=0, access={"visibility": "public", "undo": "consent"}, hand=12)
    table.start()
    for seat in (0, 1):
        table.do_first(seat, "keep_tickets")
    table.do_first(0, "claim_route")
    ada, bo = table.open(open_page, 0), table.open(open_page, 1)
    # when
    ada.get_by_role("button", name="Take my last move back").click()
    ada.get_by_text("waiting for Bo").wait_for()
    bo.get_by_role("button", name="Agree").click()
    # then
    ada.get_by_role("heading", name="Your move").wait_for()
    bo.get_by_text("Ada takes the last move back").first.wait_for()
    bo.get_by_role("button", name="Agree").wait_for(state="detached")
