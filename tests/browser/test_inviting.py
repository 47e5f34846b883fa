"""The links that friends are sent: whichever its host copies lets in who is invited, or says how to get in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.long


HOW_TO_GET_IN = "These seats are taken by invitation: ask who made the table"


def invite_friends(page: Any, name: str = "Ada") -> None:
    """Make a table for two people, and sit down at its first seat."""
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Invite friends").click()
    page.locator(".waiting .you").wait_for()
    page.wait_for_url(lambda url: "invite" in url)  # the seat is drawn first


def sit_down(page: Any, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Take this seat").click()
    page.locator(".waiting .you").wait_for()


def shared_link(page: Any) -> str:
    page.locator(".waiting").get_by_role("button", name="Invite friends").click()
    link: str = page.locator(".banner .link").input_value()
    return link


@pytest.mark.parametrize("how", ["address bar", "share button"])
def test_the_link_that_a_host_copies_lets_its_friend_in(open_page: OpenPage, how: str) -> None:
    # given
    ada = open_page("/")
    invite_friends(ada)
    # when
    bo = open_page(ada.url if how == "address bar" else shared_link(ada))
    sit_down(bo, "Bo")
    # then
    ada.get_by_text("Everybody is here").wait_for()
    assert "invite" not in bo.url
    ada.wait_for_url(lambda url: "#" not in url)


def test_a_host_that_loads_its_page_again_is_asked_nothing(open_page: OpenPage) -> None:
    # given
    ada = open_page("/")
    invite_friends(ada)
    # when
    ada.reload()
    # then
    ada.locator(".waiting .you").wait_for()
    assert ada.get_by_text("second person").count() == 0


def test_a_link_without_an_invitation_says_how_to_get_in(open_page: OpenPage) -> None:
    # given
    ada = open_page("/")
    invite_friends(ada)
    # when
    bo = open_page(ada.url.partition("#")[0])
    # then
    bo.get_by_text(HOW_TO_GET_IN).wait_for()
    assert bo.get_by_role("button", name="Take this seat").count() == 0


def test_an_invitation_in_the_hosts_own_browser_offers_a_second_person(open_page: OpenPage) -> None:
    # given
    ada = open_page("/")
    invite_friends(ada)
    other_tab = ada.context.new_page()
    other_tab.goto(ada.url)
    # when
    other_tab.get_by_role("button", name="Yes, another person sits down here").click()
    sit_down(other_tab, "Bo")
    # then
    assert "Bo" in other_tab.locator(".seat:has(.you)").inner_text()
    ada.get_by_text("Everybody is here").wait_for()
    # when
    ada.reload()
    # then
    assert "Ada" in ada.locator(".seat:has(.you)").inner_text()


def test_who_comes_back_to_a_browser_of_two_is_asked_which_of_them_it_is(open_page: OpenPage) -> None:
    # given
    ada = open_page("/")
    invite_friends(ada)
    other_tab = ada.context.new_page()
    other_tab.goto(ada.url)
    other_tab.get_by_role("button", name="Yes, another person sits down here").click()
    sit_down(other_tab, "Bo")
    # when
    later = ada.context.new_page()
    later.goto(ada.url.partition("#")[0])
    later.get_by_role("button", name="Go on in seat B").click()
    # then
    later.locator(".seat:has(.you)").get_by_text("Bo").wait_for()
