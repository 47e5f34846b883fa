"""The operator's page in a browser: a wrong key, the whole system, its buttons, all sizes, WCAG 2.2 AA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest
from pydantic import SecretStr

from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import violations
from tests.gateway.test_operator import add_dead_letter
from tests.many_clients import settings_for_many_clients

pytestmark = pytest.mark.long
KEY: Final = "an operator's key that nobody guesses"
SIZES: Final = ((360, 740), (768, 1024), (1280, 800), (1920, 1080))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    settings = settings_for_many_clients().model_copy(update={"operator_key": SecretStr(KEY)})
    with run_embedded_server(tmp_path_factory.mktemp("operator"), settings) as running:
        yield running


@pytest.fixture
def game(server: EmbeddedServer) -> str:
    """A game that bots play, and a dead letter of it."""
    seats = [{"kind": "bot", "policy": "random"}] * 3
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        created = http.post("/v1/games", json={"ruleset": "usa", "seats": seats}).json()
        bearer = {"Authorization": f"Bearer {created['token']}"}
        assert http.post(f"/v1/games/{created['game']}/start", headers=bearer).status_code == 200
    add_dead_letter(server.settings.redis_url, f"dead-{created['game']}", created["game"])
    made: str = created["game"]
    return made


@pytest.fixture
def opened(chromium: Any, server: EmbeddedServer) -> Iterator[OpenPage]:
    pages = OpenPage(chromium, server.url)
    yield pages
    pages.close()


def enter(page: Any, key: str) -> None:
    page.get_by_label("The operator's key").fill(key)
    page.get_by_role("button", name="Open").click()


def test_a_wrong_key_is_told_and_the_right_one_opens_all(opened: OpenPage, game: str) -> None:
    opened.expected.append("403")
    page = opened("/operator", bypass_csp=True)
    enter(page, "another key of thirty-two characters")
    page.get_by_role("alert").get_by_text("This isn't the operator's key.").wait_for()
    assert violations(page) == []
    enter(page, KEY)
    page.get_by_role("heading", name="Services (4)").wait_for()
    page.get_by_role("link", name=game).first.wait_for()
    assert KEY not in page.content()
    assert violations(page) == []


@pytest.mark.parametrize(("button", "done"), [("Retry p", "is queued again."), ("Drop p", "is dropped.")])
def test_a_button_takes_a_dead_letter_away(opened: OpenPage, game: str, button: str, done: str) -> None:
    page = opened("/operator")
    enter(page, KEY)
    row = page.locator("tr", has=page.get_by_role("button", name=button)).filter(has_text=game)
    row.get_by_role("button", name=button).click()
    page.get_by_text(done).first.wait_for()
    row.wait_for(state="detached")


def test_buttons_show_a_game_and_dispute_an_entry(opened: OpenPage, game: str) -> None:
    page = opened("/operator")
    enter(page, KEY)
    page.get_by_role("button", name=f"Entries of {game}").click()
    page.get_by_role("heading", name=f"Entries of {game}").first.wait_for()
    assert '"type":' in page.locator("code").last.text_content()
    page.get_by_label("Entry", exact=True).fill("1")
    page.get_by_label("Reason").fill("was that all right?")
    page.get_by_role("button", name="Dispute it").click()
    page.get_by_text(f"Entry 1 of game {game} is disputed").first.wait_for()


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nothing_is_wider_than_the_screen(opened: OpenPage, game: str, size: tuple[int, int]) -> None:
    page = opened("/operator", {"width": size[0], "height": size[1]})
    enter(page, KEY)
    page.get_by_role("button", name=f"Entries of {game}").click()
    page.get_by_role("heading", name=f"Entries of {game}").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
