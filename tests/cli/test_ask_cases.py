"""Cases as an outsider writes them, from the text of the rules alone: a question, and the expected answer.

Each is a position in one line. A verdict is `ok` or the rule that refuses the command.
"""

from __future__ import annotations

from typing import Any

import pytest

from services.cli.trains.ask import answer_query
from tests.cli.command_line import ROOT
from tests.cli.test_ask import ask, claim

Case = tuple[str, str, dict[str, Any], list[dict[str, Any]], str]
MARKET = ["red", "blue", "green", "yellow", "white"]
SEATS = {"usa": 2, "europe": 3, "marklin": 3, "trains": 2}


def action(type_: str, seat: int = 0, **fields: Any) -> dict[str, Any]:
    return {"seat": seat, "type": type_, **fields}


def put(route: str, passenger: str, **cards: int) -> dict[str, Any]:
    return {**claim(0, route, **cards), "passenger": passenger}


def move(city: str, *path: str) -> dict[str, Any]:
    return action("move_passenger", city=city, path=[*path])


def ticket(a: str, b: str, points: int) -> dict[str, Any]:
    return {"between": [a, b], "points": points}


def hand(**cards: int) -> dict[str, Any]:
    return {"hands": [cards], "market": MARKET}


def question(rules: str, position: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"ruleset": rules, "seats": SEATS[rules], "options": {}, "position": position, **more}


# -- what may be played ----------------------------------------------------------------------

BLUE3, GRAY2, GRAY3 = "montreal-new-york-a", "atlanta-raleigh-a", "montreal-toronto-a"
MANY = hand(red=4, blue=4, green=2, yellow=1, locomotive=4)
PAYMENTS: list[tuple[str, dict[str, int], bool]] = [
    (BLUE3, {"blue": 3}, True),
    (BLUE3, {"blue": 2, "locomotive": 1}, True),
    (BLUE3, {"blue": 1, "locomotive": 2}, True),
    (BLUE3, {"locomotive": 3}, True),
    (BLUE3, {"blue": 3, "red": 0}, True),
    (BLUE3, {"blue": 4}, False),
    (BLUE3, {"blue": 2}, False),
    (BLUE3, {"red": 3}, False),
    (BLUE3, {"blue": 2, "red": 1}, False),
    (BLUE3, {"red": 1, "locomotive": 2}, False),
    (BLUE3, {"locomotive": 4}, False),
    (BLUE3, {}, False),
    (GRAY2, {"red": 2}, True),
    (GRAY2, {"yellow": 1, "locomotive": 1}, True),
    (GRAY2, {"locomotive": 2}, True),
    (GRAY2, {"red": 1, "yellow": 1}, False),
    (GRAY2, {"red": 3}, False),
    (GRAY3, {"red": 3}, True),
    (GRAY3, {"green": 2, "locomotive": 1}, True),
    (GRAY3, {"red": 2, "blue": 1}, False),
]
TUNNEL, FERRY, PURPLE2, WHITE4 = (
    "barcelona-pamplona-a",
    "essen-kobenhavn-a",
    "hamburg-kiel-a",
    "hamburg-hannover-a",
)
WORKED = {"deck": ["red", "locomotive", "blue"]}
THREE = ["wien", "roma", "kyiv"]
CASES: list[Case] = [
    ("usa", "not in hand", hand(blue=2), [claim(0, BLUE3, blue=3)], "ROUTE-3"),
    ("usa", "no such route", hand(blue=3), [claim(0, "montreal-paris-a", blue=3)], "ROUTE-1"),
    ("usa", "taken", {**hand(blue=3), "routes": {BLUE3: 1}}, [claim(0, BLUE3, blue=3)], "ROUTE-1"),
    ("usa", "too few cars", {**hand(blue=3), "cars": [2]}, [claim(0, BLUE3, blue=3)], "ROUTE-4"),
    ("usa", "not in turn", {**hand(blue=3), "turn": 1}, [claim(0, BLUE3, blue=3)], "TURN-1"),
    ("usa", "closed", {**hand(red=2), "routes": {"boston-new-york-a": 1}}, [claim(0, "boston-new-york-b", red=2)], "DOUBLE-2"),
    ("usa", "an open choice", hand(blue=3), [action("draw_blind"), claim(0, BLUE3, blue=3), action("draw_blind")], "ok TURN-3 ok"),
    ("usa", "a locomotive is no second card", {"market": ["red", "locomotive"], "deck": ["blue"] * 9},
     [action("draw_market", slot=0), action("draw_market", color="locomotive"), action("draw_blind")], "ok CARD-2 ok"),
    ("usa", "a locomotive is the whole draw", {"market": ["red", "locomotive"], "deck": ["blue"] * 9},
     [action("draw_market", slot=1), action("draw_blind"), action("draw_blind", 1)], "ok TURN-1 ok"),
    ("usa", "a blind locomotive is one card", {"market": MARKET, "deck": ["locomotive", "red"]}, [action("draw_blind")] * 2, "ok ok"),
    ("usa", "no such card in the market", {"market": MARKET}, [action("draw_market", color="black"), action("draw_market", slot=9)], "CARD-1 CARD-1"),
    ("usa", "no deck", {"market": MARKET, "deck": []},
     [action("draw_blind"), action("draw_market", slot=0), action("draw_market", slot=0), action("draw_market", slot=1)], "CARD-4 ok CARD-1 ok"),
    ("usa", "one card is all there is", {"deck": ["red"]}, [action("draw_blind"), action("draw_blind", 1)], "ok CARD-4"),
    ("usa", "no pass while something is legal", {"market": MARKET}, [action("pass")], "TURN-4"),
    ("usa", "a round of passes", {"deck": [], "ticket_decks": {"regular": []}}, [action("pass"), action("pass", 1), action("pass")], "ok ok GAME-3"),
    ("usa", "tickets", {"market": MARKET}, [
        action("keep_tickets", keep=[0]), action("draw_tickets"), action("draw_blind"), action("keep_tickets", keep=[]), action("keep_tickets", keep=[3]),
        action("keep_tickets", keep=[0, 0]), action("keep_tickets", keep=[2, 0]), action("draw_tickets", 1),
    ], "TURN-2 ok TURN-3 TICKET-1 TICKET-1 TICKET-1 ok ok"),
    ("usa", "no tickets", {"ticket_decks": {"regular": []}}, [action("draw_tickets")], "TICKET-1"),
    ("usa", "the one mix", {}, [action("draw_tickets", decks={"regular": 2}), action("draw_tickets", decks={"regular": 3})], "TICKET-1 ok"),
    ("usa", "no mix", {}, [action("draw_tickets", decks={})], "ok"),
    ("usa", "other games", hand(red=1), [action("build_station", city="boston", cards={"red": 1}), action("request_cards")], "TURN-2 TURN-2"),
    ("usa", "no such card at all", hand(red=1), [claim(0, GRAY2, pink=2), action("draw_blind")], "SHAPE-1 ok"),
    ("usa", "leaving out of turn", {"market": MARKET}, [action("leave", 1), action("draw_blind"), action("draw_blind"), action("draw_blind")], "ok ok ok ok"),
    ("europe", "a ferry", hand(red=3, blue=1, locomotive=1), [claim(0, FERRY, red=3), claim(0, FERRY, red=1, blue=1, locomotive=1),
     claim(0, FERRY, red=2, locomotive=1)], "FERRY-1 ROUTE-2 ok"),
    ("europe", "two locomotives on a ferry", hand(red=5, locomotive=1), [claim(0, "palermo-smyrna-a", red=5, locomotive=1)], "FERRY-1"),
    ("europe", "the worked tunnel", {**hand(red=5, locomotive=1), **WORKED}, [
        claim(0, TUNNEL, red=2), action("draw_blind"), *(action("pay_tunnel", cards=cards) for cards in
        ({}, {"red": 1}, {"red": 3}, {"blue": 2}, {"red": 1, "locomotive": 1})),
    ], "ok TURN-3 TUNNEL-3 TUNNEL-3 TUNNEL-3 TUNNEL-3 ok"),
    ("europe", "the same with locomotives", {**hand(red=5, locomotive=3), **WORKED}, [claim(0, TUNNEL, locomotive=2),
     action("pay_tunnel", cards={"red": 1}), action("pay_tunnel", cards={"locomotive": 1})], "ok TUNNEL-3 ok"),
    ("europe", "a tunnel declined", {**hand(red=2), **WORKED}, [claim(0, TUNNEL, red=2), action("pay_tunnel", cards={"red": 2}),
     action("decline_tunnel"), action("decline_tunnel", 1)], "ok ROUTE-3 ok TURN-2"),
    ("europe", "a tunnel asks nothing", {**hand(red=2), "deck": ["blue", "green", "white"]},
     [claim(0, TUNNEL, red=2), action("pay_tunnel", cards={"red": 1})], "ok TURN-1"),
    ("europe", "a tunnel and no card to reveal", {**hand(red=2), "deck": []}, [claim(0, TUNNEL, red=2)], "ok"),
    ("europe", "the mix of europe is fixed", {}, [action("draw_tickets", decks={"long": 1, "regular": 2}),
     action("draw_tickets", decks={"regular": 3})], "TICKET-1 ok"),
    ("europe", "the last ticket is kept", {"ticket_decks": {"regular": [ticket("paris", "wien", 8)]}}, [action("draw_tickets"),
     action("keep_tickets", keep=[]), action("keep_tickets", keep=[0]), action("draw_tickets", 1)], "ok TICKET-1 ok TICKET-1"),
    ("europe", "a station", {**hand(red=2), "stations": {"wien": {"seat": 1}}}, [
        *(action("build_station", city=city, cards={"red": 1}) for city in ("gotham", "wien")),
        action("build_station", city="roma", cards={"red": 1}, neighbour="kyiv"), action("build_station", city="roma", cards={}),
        action("build_station", city="roma", cards={"red": 2}), action("build_station", city="roma", cards={"red": 1}, neighbour=None),
    ], "STATION-1 STATION-1 STATION-3 STATION-2 STATION-2 ok"),
    ("europe", "a second station", {**hand(red=2, blue=1), "stations": {"wien": {"seat": 0}}}, [
        *(action("build_station", city="roma", cards=cards) for cards in ({"red": 1}, {"red": 1, "blue": 1}, {"red": 2})),
    ], "STATION-2 STATION-2 ok"),
    ("europe", "a fourth station", {**hand(red=4), "stations": {c: {"seat": 0, "neighbour": None} for c in THREE}},
     [action("build_station", city="paris", cards={"red": 4})], "STATION-1"),
    ("marklin", "placing", {**hand(purple=2), "passengers": {"hamburg": 1}}, [
        put(PURPLE2, "hamburg", purple=2), put(PURPLE2, "berlin", purple=2), put(PURPLE2, "kiel", purple=2)], "PASSENGER-1 PASSENGER-1 ok"),
    ("marklin", "placing in a country", hand(red=2), [put("danemark-kiel-a", "danemark", red=2)], "PASSENGER-1"),
    ("marklin", "+4", hand(purple=1, white=3, passenger=1, locomotive4=1), [
        claim(0, PURPLE2, purple=1, locomotive4=1), claim(0, WHITE4, white=3, passenger=1), claim(0, WHITE4, white=3, locomotive4=1),
    ], "ROUTE-7 ROUTE-7 ok"),
    ("marklin", "+4 and passengers face up", {"market": ["locomotive4", "passenger"], "deck": ["red"] * 9},
     [action("draw_market", slot=0), action("draw_market", color="passenger")], "ok ok"),
    ("marklin", "moving", {**hand(passenger=1), "passengers": {"berlin": 0}, "routes": {
        "berlin-leipzig-a": 0, "dresden-leipzig-a": 1, "chemnitz-dresden-a": 2}}, [
        move("berlin"), move("leipzig", "berlin-leipzig-a"), move("berlin", "berlin-magdeburg-a"), move("berlin", "dresden-leipzig-a"),
        move("berlin", "berlin-leipzig-a", "berlin-leipzig-a"), move("berlin", "berlin-leipzig-a", "dresden-leipzig-a", "chemnitz-dresden-a"),
        move("berlin", "berlin-leipzig-a", "dresden-leipzig-a"),
    ], "PASSENGER-2 PASSENGER-2 PASSENGER-2 PASSENGER-2 PASSENGER-2 PASSENGER-2 ok"),
    ("marklin", "the mix is named", {}, [action("draw_tickets"), *(action("draw_tickets", decks=decks) for decks in
        ({"short": 2}, {"short": 5}, {"regular": 4}, {"short": 4, "long": 0}))], "TICKET-3 TICKET-3 TICKET-3 TICKET-3 ok"),
    ("trains", "requests", {"deck": ["red", "blue", "green"]}, [action("request_cards"), action("request_cards", 1), action("request_cards"),
     action("request_cards", 1)], "ok ok ok GAME-3"),
    ("trains", "the others' last turn", {**hand(red=3), "market": [], "cars": [5]}, [claim(0, "madrid-toledo-red", red=3),
     action("request_cards", 1), action("request_cards")], "ok ok GAME-3"),
    ("trains", "both connections", {"hands": [{"red": 3}], "routes": {"madrid-toledo-white": 0}}, [claim(0, "madrid-toledo-red", red=3)], "ok"),
    ("trains", "out at the first", {}, [action("request_cards", 1), action("request_cards"), action("request_cards", 1)], "TURN-1 ok CONDUCT-3"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("route", "cards", "pays"), PAYMENTS, ids=[f"{route} {cards}" for route, cards, _ in PAYMENTS]
)
def test_what_pays_for_a_route(route: str, cards: dict[str, int], pays: bool) -> None:
    answer: Any = answer_query(question("usa", MANY, commands=[claim(0, route, **cards)]), ROOT)
    (verdict,) = answer["verdicts"]
    assert verdict.get("rule") == (None if pays else "ROUTE-2")


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES])
def test_the_verdicts_are_those_of_the_rules(case: Case) -> None:
    rules, _, position, commands, verdicts = case
    answer: Any = answer_query(question(rules, position, commands=commands), ROOT)
    assert " ".join(verdict.get("rule", "ok") for verdict in answer["verdicts"]) == verdicts
    for verdict in answer["verdicts"]:
        assert verdict.keys() >= ({"events"} if verdict["accepted"] else {"rule", "why"})


# -- what comes of it ------------------------------------------------------------------------


def events(rules: str, position: dict[str, Any], *commands: dict[str, Any]) -> list[dict[str, Any]]:
    answer = ask(**question(rules, position, commands=[*commands]))
    return [event for verdict in answer["verdicts"] for event in verdict["events"]]


def test_the_deck_is_drawn_from_its_front_and_the_market_filled_from_it() -> None:
    position = {"market": MARKET, "deck": ["purple", "orange", "black", "green"]}
    drawn = events(
        "usa", position, action("draw_blind"), action("draw_market", color="blue"), action("draw_blind", 1)
    )
    assert [event.get("card") or event.get("cards") for event in drawn] == [
        "purple",
        "blue",
        ["orange"],
        None,
        "black",
    ]


def test_a_tunnel_reveals_the_front_of_all_the_cards_that_a_short_deck_is_shuffled_together_from() -> None:
    position = {**hand(red=2), "deck": ["blue"], "discard": {"green": 1, "white": 1, "black": 0}}
    shuffled, revealed, claimed, *_ = events("europe", position, claim(0, TUNNEL, red=2))
    assert (shuffled["type"], revealed["revealed"]) == ("deck_recreated", shuffled["order"])
    assert sorted(shuffled["order"]) == ["blue", "green", "white"]
    assert (revealed["extra"], claimed["points"]) == (0, 2)
    again = events("europe", position, claim(0, TUNNEL, red=2))
    assert again[0]["order"] == shuffled["order"]


def test_the_passenger_of_the_worked_example_scores_14() -> None:
    path = [
        "berlin-leipzig-a",
        "dresden-leipzig-a",
        "chemnitz-dresden-a",
        "chemnitz-regensburg-a",
        "nurnberg-regensburg-a",
    ]
    tops = {
        "berlin": [7, 6],
        "leipzig": [2],
        "dresden": [3, 2, 1],
        "chemnitz": [3],
        "regensburg": [3, 1],
        "nurnberg": [3],
    }
    position = {"routes": dict.fromkeys(path, 0), "passengers": {"berlin": 0}, "tokens": tops}
    answer = ask(**question("marklin", position, commands=[move("berlin", *path)], score=True))
    assert answer["verdicts"][0]["events"][0]["points"] == 14
    assert answer["score"][0]["merchandise"] == 14
