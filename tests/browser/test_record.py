"""The record of a device: finished games with place, points and opponents, to be exported, imported and cleared."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import httpx
import pytest

from tests.browser.conftest import OpenPage
from tests.browser.players import SeatedTable

pytestmark = pytest.mark.long


def test_a_finished_game_stands_in_the_record_which_goes_to_another_browser(
    open_page: OpenPage, http: httpx.Client, tmp_path: Path
) -> None:
    # given
    table = SeatedTable(http)
    table.start()
    table.play_until()
    state = http.get(f"/v1/games/{table.game}/state").json()
    [own, other] = sorted(state["result"], key=lambda score: score["seat"])
    page = open_page("/", script=table.known_seat(0))
    page.locator(".mine .game", has_text="won with").wait_for()
    # when
    page.get_by_role("button", name="My record").click()
    # then
    row = page.locator(".record tbody tr")
    assert f"{['1st', '2nd'][own['place'] - 1]} of 2" in row.inner_text()
    assert str(own["total"]) in row.locator("td b").first.inner_text()
    assert str(other["total"]) in row.locator(".people").inner_text()
    assert row.get_by_role("link").get_attribute("href") == f"/table/{table.game}#at=1"
    # when
    with page.expect_download() as json_file:
        page.get_by_role("button", name="Export as JSON").click()
    with page.expect_download() as csv_file:
        page.get_by_role("button", name="Export as CSV").click()
    exported = tmp_path / "record.json"
    json_file.value.save_as(exported)
    csv_file.value.save_as(tmp_path / "record.csv")
    # then
    [line] = csv.DictReader((tmp_path / "record.csv").read_text(encoding="utf-8").splitlines())
    assert (line["game"], line["place"], line["points"]) == (
        table.game,
        str(own["place"]),
        str(own["total"]),
    )
    elsewhere = open_page("/")
    elsewhere.get_by_role("button", name="My record").click()
    elsewhere.locator("input[type=file]").set_input_files(exported)
    elsewhere.get_by_text("1 game imported").wait_for()
    assert elsewhere.locator(".record tbody tr").inner_text() == row.inner_text()
    elsewhere.locator("input[type=file]").set_input_files(exported)
    elsewhere.get_by_text("All its games were here").wait_for()
    # when
    page.get_by_role("button", name="Clear …").click()
    page.get_by_role("button", name="Clear the record").click()
    page.reload()
    page.locator(".mine .game", has_text="won with").wait_for()
    page.get_by_role("button", name="My record").click()
    # then
    page.get_by_text("No game that you played").wait_for()


SOON_MS = 5_000  # on a busy machine; 60 alone
GAME = {
    "game": "0123456789ab",
    "seat": 0,
    "title": "USA",
    "board": "usa",
    "at": 1,
    "seats": [{"name": '=2+3,"x"', "points": 1, "place": 1}, {"name": "=1+1", "points": 0, "place": 2}],
}


FORM = "ledgerline-record"
IMPORT = """text => import('/assets/api/record.js').then(record => record.importFile(new Blob([text])))
  .then(count => `${count} are new`, error => error.message)"""
MANY = """async ([count, name]) => {
  const seats = Array(8).fill({name, points: 1, place: 1});
  const games = Array.from({length: count}, (_, n) =>
    ({game: n.toString(16).padStart(12, "0"), seat: 0, title: "USA", board: null, at: 8e15 - 1, seats}));
  const [text, begun] = [JSON.stringify({form: "ledgerline-record", games}), performance.now()];
  return [await (IMPORT)(text), performance.now() - begun];
}""".replace("IMPORT", IMPORT)


def test_files_that_are_no_records_are_refused_in_words(open_page: OpenPage) -> None:
    page = open_page("/")
    page.get_by_role("button", name="My record").click()
    file = {"name": "record.json", "mimeType": "application/json", "buffer": b"no"}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("alert").filter(has_text="This file isn't JSON").wait_for()
    wrong: list[object] = [{**GAME, "seat": 2}, {**GAME, "game": "../x"}, {**GAME, "seats": None}, None, []]
    for game in wrong:
        assert "Game 1 of this file" in page.evaluate(IMPORT, json.dumps({"form": FORM, "games": [game]}))
    for text in (
        "[]",
        "null",
        '{"form": "ledgerline-record", "games": {"length": 9}}',
        "[" * 100_000 + "]" * 100_000,
    ):
        assert "This file has no record" in page.evaluate(IMPORT, text), text[:50]


def test_a_huge_record_takes_no_room_of_seats_and_drops_no_game_of_ones_own(open_page: OpenPage) -> None:
    # given
    page = open_page("/")
    own = json.dumps({"form": FORM, "games": [GAME]})
    assert page.evaluate(IMPORT, own) == "1 are new"
    # when
    for count, name in ((2_000, "x"), (1_000, "\u20ac" * 200)):
        assert "has no room for" in page.evaluate(MANY, [count, name])[0]
    assert "larger than any record" in page.evaluate(f"({IMPORT})(' '.repeat(6_000_001))")
    # then
    assert page.evaluate("JSON.parse(localStorage['ledgerline.record']).games.length") == 1
    said, took_ms = page.evaluate(MANY, [1_999, "x"])
    assert said == "1999 are new" and took_ms < SOON_MS
    assert page.evaluate(IMPORT, own) == "0 are new"
    page.evaluate("localStorage.setItem('a seat', 'x'.repeat(1_000_000))")  # there is room


def test_a_name_is_no_formula_for_a_spreadsheet(open_page: OpenPage) -> None:
    stored = json.dumps({"games": [{**GAME, "seats": GAME["seats"][::-1], "seat": 1}], "cleared": []})  # type: ignore[index]
    page = open_page("/", script=f"localStorage.setItem('ledgerline.record', {json.dumps(stored)})")
    text = page.evaluate("import('/assets/api/record.js').then(record => record.recordAsCsv())")
    [line] = csv.DictReader(text.splitlines())
    assert line["opponents"].startswith("'=1+1")
