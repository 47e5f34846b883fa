"""The audit in the browser: checks one by one, a move in words, a doubt and its answer, the file."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import httpx
import pytest

from tests.browser.chromium import LAN_HOST
from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable, wait_for_audit


@pytest.mark.long
def test_a_doubted_move_is_explained_in_words_and_its_reason_is_answered(
    open_page: OpenPage, http: httpx.Client
) -> None:
    # given
    table = SeatedTable(http)
    table.start()
    table.play_until()
    wait_for_audit(table.http, table.game)
    page = table.open(open_page, 0)
    page.get_by_role("link", name="Check its proof").click()
    page.locator(".verdict.good").wait_for()
    # when
    page.get_by_label("Entry").first.select_option("6")
    page.get_by_role("button", name="Explain").click()
    page.locator(".wish", has_text="Entry 6: ").wait_for()
    assert "seat " not in page.locator(".wish").inner_text(), "who sits there has a name"
    doubted = page.locator(".doubt-form select")
    assert doubted.input_value() == "6"
    listed = doubted.locator("option").all_inner_texts()
    assert any("claims" in text for text in listed)
    number = next(text.partition(":")[0] for text in listed if "Ada claims" in text)
    doubted.select_option(number)
    page.get_by_label("What is wrong with it?").fill("Ada paid for my <b>ticket</b> against ROUTE-2.")
    page.get_by_role("button", name="Doubt this move").click()
    # then
    page.get_by_text("The move that you doubted is as the rules say.").wait_for()
    assert "my <b>ticket</b>" in page.locator(".doubt q").inner_text()
    assert f"entry {number}" in page.locator(".doubt").inner_text()
    page.get_by_text("In this entry Ada paid ").filter(has_text="which was right by ROUTE-2.").wait_for()
    assert page.locator(".checks .good").count() == 7, "the six checks, and the browser's own of the chain"
    text = page.locator("main").inner_text()
    assert "the same for all" in text
    assert "{" not in text
    assert "None" not in text
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    assert download.value.suggested_filename == f"{table.game}.ledgerline"
    with page.expect_download() as verifier:
        page.get_by_role("link", name="the verifier in one file of Python").click()
    run = page.locator("code", has_text="python verify_game.py").inner_text().split()
    files = [verifier.value.path(), download.value.path(), *run[3:]]
    assert subprocess.run([sys.executable, *map(str, files)], check=False).returncode == 0


@pytest.mark.long
def test_while_a_game_goes_on_its_chain_alone_is_checked(open_page: OpenPage, http: httpx.Client) -> None:
    table = SeatedTable(http)
    page = open_page(f"/audit/{table.game}")
    page.locator(".checks .good", has_text="all 2 entries follow").wait_for()
    assert page.locator(".verdict, .explained, .doubts, .doubt-form").count() == 0


def test_P5_the_chain_is_checked_on_plain_http_in_a_lan_too(open_page: OpenPage, http: httpx.Client) -> None:
    # given
    table = SeatedTable(http)
    # when
    page = open_page(f"http://{LAN_HOST}:{http.base_url.port}/audit/{table.game}")
    # then
    assert page.evaluate("[isSecureContext, typeof crypto.subtle]") == [False, "undefined"]
    page.get_by_text("The chain was checked here, too").wait_for()


def test_the_pages_hash_is_sha_256(open_page: OpenPage) -> None:
    # given
    messages = [b"", b"abc", *(bytes(range(256))[:length] * 5 for length in (11, 12, 13, 25, 26, 200))]
    hexed = [message.hex() for message in messages]
    # when
    hashes = open_page("/").evaluate(
        """async (hexed) => {
          const { sha256 } = await import("/assets/api/sha256.js");
          return hexed.map((hex) => [...sha256(Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16)))]);
        }""",
        hexed,
    )
    # then
    assert [bytes(each) for each in hashes] == [hashlib.sha256(message).digest() for message in messages]
