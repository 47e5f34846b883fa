"""Tables over HTTP: what a viewer sees of one, what its seat may do, games in a list, clocks for people."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import httpx
import pytest

from schemas.commands import write_command
from schemas.trains.boards.form import BOARD_SCHEMA
from services.gateway.tables.table_port import PRESETS
from services.ledger import RedisLedger
from services.referee.games.trains.board import load_board
from tests.gateway.clients import CreatedGame, Json, Player, bearer, in_turn, over, plan, problem


def state(player: Player, **params: int) -> Json:
    reply = player.http.get(
        f"/v1/games/{player.game}/state", params=params, headers=bearer(player.token or None)
    )
    assert reply.status_code == 200, reply.text
    found: Json = reply.json()
    assert found.pop("age_ms") >= 0
    return found


@pytest.fixture(scope="module")
def finished(http: httpx.Client) -> tuple[str, int]:
    """A game of bots that is over, and the number of its last entry."""
    return over(http)


def watcher(player: Player) -> Player:
    """Somebody without a token."""
    return Player(player.http, player.game, -1, "")


def test_VIEW_1_a_table_shows_a_seat_its_own_cards_and_nobody_elses(http: httpx.Client) -> None:
    # given
    ada, bo = in_turn(http)
    # when
    own, other, public = state(ada), state(bo), state(watcher(ada))
    # then
    hand = {card: n for card, n in ada.look().seats[0].own.hand.items() if n and card}
    assert own["hand"] == hand
    assert [ticket["id"] for ticket in own["tickets"]] == ada.state.seats[0].own.tickets
    assert other["hand"] != own["hand"]
    assert public["hand"] is None
    assert public["tickets"] == public["offer"] == []
    assert own["seats"] == other["seats"] == public["seats"]
    assert own["head"] == public["head"]


def test_what_is_legal_is_what_the_rules_offer_and_nothing_where_a_seat_is_not_asked(
    http: httpx.Client,
) -> None:
    ada, bo = in_turn(http)
    listed = http.get(f"/v1/games/{ada.game}/legal", headers=bearer(ada.token)).json()
    commands = [each["command"] for each in listed["commands"]]
    assert commands == [write_command(command) for command in ada.legal()]
    assert listed["commands"][0]["text"] == "draw blind from the deck"
    waiting = http.get(f"/v1/games/{ada.game}/legal", headers=bearer(bo.token)).json()
    assert waiting["commands"] == []


def test_a_table_comes_with_what_is_legal_where_that_is_asked_for(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    listed = http.get(f"/v1/games/{ada.game}/legal", headers=bearer(ada.token)).json()
    assert state(ada, legal=True)["legal"] == listed["commands"]
    assert state(ada)["legal"] is None
    assert state(watcher(ada), legal=True)["legal"] is None
    past = http.get(f"/v1/games/{ada.game}/state?at=1&legal=true", headers=bearer(ada.token))
    problem(past, 422, "SHAPE-1", "legal")


def test_a_table_after_an_entry_is_what_it_was_then(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    before = state(ada)
    ada.do(ada.legal()[0])
    after = state(ada, since=before["number"])
    assert [move["number"] for move in after["moves"]] == [before["number"] + 1]
    assert state(ada, at=before["number"]) == before
    assert after["seats"][0]["cards"] == before["seats"][0]["cards"] + 1
    for number in (0, after["number"] + 1):
        problem(
            http.get(f"/v1/games/{ada.game}/state", params={"at": number}, headers=bearer(ada.token)),
            422,
            "SHAPE-1",
            "at",
        )


def test_VIEW_1_what_another_seat_saw_is_shown_once_the_game_is_over(
    http: httpx.Client, finished: tuple[str, int]
) -> None:
    # given
    ada, _ = in_turn(http)
    path, own = f"/v1/games/{ada.game}/state", bearer(ada.token)
    at = state(ada)["number"]
    # when
    refused = http.get(path, params={"at": at, "as": "1"}, headers=own)
    as_public = http.get(path, params={"at": at, "as": "public"}, headers=own).json()
    # then
    problem(refused, 403, "TOKEN-1")
    assert (as_public["viewer"], as_public["hand"], as_public["tickets"]) == ("public", None, [])
    problem(http.get(path, params={"as": "public"}, headers=own), 422, "SHAPE-1", "as")
    # and once it is over
    game, _ = finished
    seen = {
        seat: http.get(f"/v1/games/{game}/state", params={"at": 10, "as": seat, "since": 0}).json()
        for seat in ("0", "1")
    }
    assert [table["viewer"] for table in seen.values()] == [0, 1]
    assert seen["0"]["hand"] != seen["1"]["hand"]
    assert seen["0"]["moves"] != seen["1"]["moves"], "each was told its own cards"
    problem(http.get(f"/v1/games/{game}/state", params={"at": 10, "as": "7"}), 404, "SHAPE-1")


def test_a_move_says_its_turn_and_what_it_earned(http: httpx.Client, finished: tuple[str, int]) -> None:
    game, last = finished
    table = http.get(f"/v1/games/{game}/state", params={"since": 0}).json()
    moves = table["moves"]
    assert [move["turn"] for move in moves] == sorted(move["turn"] for move in moves)
    assert (moves[0]["turn"], moves[-1]["number"]) == (0, last)
    for seat in table["seats"]:
        earned = sum(move["points"] for move in moves if move["seat"] == seat["seat"])
        assert earned == seat["points"] or seat["seat"] == moves[-1]["seat"], (
            "the last move counts tickets too"
        )


def test_no_ticket_of_a_game_that_is_over_is_open(http: httpx.Client, finished: tuple[str, int]) -> None:
    # given
    game, number = finished
    table = http.get(f"/v1/games/{game}/state").json()
    for seat, score in enumerate(table["result"]):
        # when
        params = {"at": number, "as": seat}
        tickets = http.get(f"/v1/games/{game}/state", params=params).json()["tickets"]
        # then
        assert tickets == [*score["made"], *score["missed"]] != []
        assert all(ticket["open"] == ticket["made"] and not ticket["way"] for ticket in tickets)


def test_who_is_shown_a_table_late_is_told_which_seats_are_free_now(http: httpx.Client) -> None:
    # given
    delay = {"visibility": "public", "spectator_delay": 20}
    created = CreatedGame(http, "human", "human", **delay)
    # when
    created.join("Bo", 1)
    # then
    table = http.get(f"/v1/games/{created.game}/state").json()
    assert [seat["seated"] for seat in table["seats"]] == [False, False], "it is shown late"
    assert table["free_seats"] == [0]
    rows = {row["game"]: row for row in http.get("/v1/games").json()["games"]}
    assert rows[created.game]["free"] == 1
    assert [seat["free"] for seat in rows[created.game]["seats"]] == [True, False]


def games_of(http: httpx.Client, **filters: str) -> set[str]:
    return {row["game"] for row in http.get("/v1/games", params=filters).json()["games"]}


def test_a_list_has_details_and_is_filtered_by_status(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "greedy", ruleset="trains", visibility="public")
    rows = {row["game"]: row for row in http.get("/v1/games", params={"status": "waiting"}).json()["games"]}
    row = rows[created.game]
    assert (row["status"], row["ruleset"], row["ruleset_title"], row["board_title"], row["free"]) == (
        "waiting",
        "trains",
        "Trains",
        "Iberia",
        1,
    )
    assert [seat["free"] for seat in row["seats"]] == [True, False]
    for wrong in ({"ruleset": "usa"}, {"board": "usa"}):
        assert created.game not in games_of(http, **wrong)
    assert created.game in games_of(http, ruleset="trains", board="iberia", free="true")
    created.join("Ada")
    created.start()
    assert created.game not in games_of(http, free="true")
    rows = {row["game"]: row for row in http.get("/v1/games").json()["games"]}
    assert (rows[created.game]["status"], rows[created.game]["free"]) == ("playing", 0)
    assert created.game not in {
        row["game"] for row in http.get("/v1/games", params={"status": "over"}).json()["games"]
    }


def test_the_list_is_read_to_its_end_page_by_page(http: httpx.Client) -> None:
    # given
    created = [CreatedGame(http, "human", "greedy", visibility="public").game for _ in range(5)]
    # when
    pages, cursor = list[list[str]](), None
    while cursor is not None or not pages:
        params = {"most": "2"} if cursor is None else {"most": "2", "cursor": cursor}
        page = http.get("/v1/games", params=params).raise_for_status().json()
        pages.append([row["game"] for row in page["games"]])
        cursor = page.get("next")
        if len(pages) == 1:
            CreatedGame(http, "human", "greedy", visibility="public")
    # then
    found = [game for page in pages for game in page]
    assert found[:5] == created[::-1], "what came meanwhile moves nothing"
    assert len(found) == len(set(found))


def cursor_of(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "é", "=" * 40, "A" * 20_000, cursor_of("1.2"), cursor_of("1.9999.game-one"),
     cursor_of("-1.2.game-one"), cursor_of("nan.2.game-one"), cursor_of("01.2.game-one"), cursor_of("1.-2.game-one"),
     cursor_of("1.2.game-one.4"), cursor_of("9" * 60 + ".2.game-one"), cursor_of("١.2.game-one"),
     cursor_of("1.2.game-one") + "=", cursor_of("1.2.game-one") + "\n"],
)  # fmt: skip
def test_a_cursor_that_no_page_gave_is_refused(http: httpx.Client, cursor: str) -> None:
    problem(http.get("/v1/games", params={"cursor": cursor}), 422, "SHAPE-1", "cursor")


def clocks_of(http: httpx.Client, **more: object) -> tuple[int | None, int | None]:
    """The clocks of a game that is created like this."""
    body = {"ruleset": "europe", "seats": [plan("human"), plan("human")], **more}
    game = http.post("/v1/games", json=body).json()["game"]
    options = http.get(f"/v1/games/{game}/view").json()["entries"][0]["events"][0]["parameters"]
    return options["clock_ms"], options["move_ms"]


def test_CLOCK_1_people_have_no_clock_for_the_whole_game_unless_it_is_asked_for(http: httpx.Client) -> None:
    assert clocks_of(http)[0] is None
    assert clocks_of(http, seats=[plan("greedy"), plan("greedy")])[0] == 120_000
    assert clocks_of(http, clock="ai-mas")[0] == 120_000
    assert clocks_of(http, clock="blitz", options={"clock_ms": 1_000})[0] == 1_000


@pytest.mark.parametrize("clock_ms", [1, 120_000, 700_000])
def test_CLOCK_1_a_clock_that_somebody_sends_on_purpose_is_taken(http: httpx.Client, clock_ms: int) -> None:
    assert clocks_of(http, options={"clock_ms": clock_ms})[0] == clock_ms
    board = BOARD_SCHEMA.write(load_board("europe").form, exclude_defaults=True)
    own = {**board, "id": "ours", "options": {"clock_ms": clock_ms}}
    assert clocks_of(http, board=own)[0] == clock_ms
    assert clocks_of(http, board={**board, "id": "ours"})[0] is None


def test_CLOCK_1_the_defaults_that_the_rulesets_list_are_those_of_their_tables(http: httpx.Client) -> None:
    for ruleset in http.get("/v1/rulesets").json()["rulesets"]:
        [clock] = [option for option in ruleset["options"] if option["name"] == "clock_ms"]
        for seat, listed in (("human", "default_with_people"), ("greedy", "default")):
            bot = "greedy" if "greedy" in ruleset["policies"] else "random"
            seats = [plan(seat if seat == "human" else bot), *[plan(bot)] * (ruleset["seats_least"] - 1)]
            assert clocks_of(http, ruleset=ruleset["name"], seats=seats)[0] == clock[listed]


@pytest.mark.parametrize("name", PRESETS)
def test_CLOCK_1_a_preset_names_both_clocks(http: httpx.Client, name: str) -> None:
    assert clocks_of(http, clock=name) == tuple(PRESETS[name].options.values())


def test_an_unknown_preset_is_refused(http: httpx.Client) -> None:
    body = {"seats": [plan("human"), plan("human")], "clock": "hurry"}
    problem(http.post("/v1/games", json=body), 422, "SHAPE-1", "clock")


@pytest.mark.parametrize("board", ["usa", "europe", "germany", "iberia", "nordic", "switzerland"])
def test_a_board_is_drawn_within_its_frame(http: httpx.Client, board: str) -> None:
    drawing = http.get(f"/v1/boards/{board}").json()
    places = [space for route in drawing["routes"] for space in route["spaces"]] + drawing["cities"]
    assert all(0 < at["x"] < drawing["width"] and 0 < at["y"] < drawing["height"] for at in places)
    assert all(len(route["spaces"]) == route["length"] for route in drawing["routes"])


def test_a_boards_picture_escapes_its_names(http: httpx.Client) -> None:
    picture = http.get("/v1/boards/usa/svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert ">Montréal</text>" in picture.text


# -- time to think -------------------------------------------------------------------


def test_a_table_says_that_its_bots_wait_for_time_to_think(http: httpx.Client, ledger: RedisLedger) -> None:
    created = CreatedGame(http, "human", "greedy")
    created.join("Ada")
    created.start()
    path = f"/v1/games/{created.game}/state"
    assert http.get(path).json()["bots_late"] is False
    ledger.record_late_bots([created.game])
    assert http.get(path).json()["bots_late"] is True


def test_the_games_of_an_address_have_one_creator_which_doesnt_show_it(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    games = [CreatedGame(http, "human", "human").game for _ in range(2)]
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=http.base_url, transport=transport) as elsewhere:
        games.append(CreatedGame(elsewhere, "human", "human").game)
    first, second, other = ledger.read_creators(games)
    assert first == second != other
    assert not {first, other} & {"", "127.0.0.1", "127.0.0.2"}
