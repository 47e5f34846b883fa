"""What a program that was sent a link shows of it: a picture that exists, and no secret of the game."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest

from services.gateway.games.game_creations import GameCreations
from services.gateway.routes import pages
from services.gateway.routes.pages import SOME_TABLE


def tags_of(http: httpx.Client, path: str) -> dict[str, str]:
    page = http.get(path, headers={"Accept": "text/html"}).raise_for_status().text
    return dict(re.findall(r'<meta property="og:([\w:]+)" content="([^"]*)">', page))


def create(http: httpx.Client, **more: object) -> str:
    body = {"seats": [{"kind": "human"}] * 3, "board": "iberia", **more}
    game: str = http.post("/v1/games", json=body).raise_for_status().json()["game"]
    return game


def assert_has_picture(http: httpx.Client, tags: dict[str, str]) -> None:
    assert tags["image"].startswith(str(http.base_url))
    picture = http.get(tags["image"]).raise_for_status()
    assert picture.headers["content-type"].startswith("image/jpeg")
    assert picture.content[:2] == b"\xff\xd8"
    assert len(picture.content) < 100_000


def test_a_link_to_a_table_is_shown_with_its_board(http: httpx.Client) -> None:
    game = create(http, visibility="unlisted", by_invitation=True)
    tags = tags_of(http, f"/table/{game}")
    assert tags["title"] == "Iberia: a table for 3 at Ledgerline"
    assert tags["image"].endswith("/iberia.jpg")
    assert_has_picture(http, tags)


@pytest.mark.parametrize("board", ["europe", "germany", "iberia", "nordic", "switzerland", "usa"])
def test_every_board_has_a_picture(http: httpx.Client, board: str) -> None:
    tags = tags_of(http, f"/table/{create(http, board=board)}")
    assert tags["image"].endswith(f"/{board}.jpg")
    assert_has_picture(http, tags)


def test_P5_a_link_to_a_game_for_its_players_alone_says_nothing_of_it(http: httpx.Client) -> None:
    game = create(http, visibility="players")
    assert tags_of(http, f"/table/{game}") == tags_of(http, "/table/nothing-here")


@pytest.mark.parametrize("path", ["/table/none-such", "/table/%22%3E%3Cscript%3E", "/table/" + "x" * 2000])
def test_a_link_to_no_game_is_shown_as_any_table(http: httpx.Client, path: str) -> None:
    tags = tags_of(http, path)
    assert tags["title"] == SOME_TABLE.title
    assert_has_picture(http, tags)


def test_a_host_header_is_no_markup(http: httpx.Client) -> None:
    page = http.get("/", headers={"Host": 'a"><script>x</script>'})
    assert "<script>x" not in page.text


def test_P7_a_page_opens_though_the_engine_says_nothing(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find(*_: object) -> None:
        await asyncio.sleep(60)

    game = create(http)
    monkeypatch.setattr(pages, "WAIT_S", 0.05)
    monkeypatch.setattr(GameCreations, "find", find)
    assert tags_of(http, f"/table/{game}")["title"] == SOME_TABLE.title
