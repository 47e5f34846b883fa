"""The AI-MAS class (services/trains/ai_mas): what each method returns, as ../shared/interop.md says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from schemas.commands import Command, Pass
from schemas.events import CommandRefused
from schemas.published_contracts import ALL_RULES
from schemas.refusals import GAME_RULES
from schemas.stored.entries import ViewEntry
from schemas.trains.commands import DrawMarket
from schemas.trains.rule_options import TRAIN_RULES
from services.bots.kit import Refusal, SeatClient, SeatToken, Turn, Verdict
from services.trains.ai_mas import (
    CODE_BY_RULE,
    TTRCard,
    TTRClient,
    TTRCons,
    TTREdge,
    TTRMission,
    TTRNode,
    TTRPlayer,
    TTRTunnel,
    code_of,
)
from tests.rules.given import Scene, given, started

DOCS = (Path(__file__).parents[2] / "docs" / "how-to" / "clients.md").read_text()


class SceneClient:
    """A client whose server is a scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.sent = scene, list[Command]()
        self.session: Any = SimpleNamespace(state=scene.state, on_entry=None)

    def __enter__(self) -> SceneClient:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __iter__(self) -> Iterator[Turn]:
        """The turns of seat 0, with seat 1 passing, until the game is over."""
        state = self.scene.state
        while state.result is None:
            if 1 in state.pending_choices:
                self.scene.when(1, Pass())
            else:
                yield Turn(len(self.sent), state, 0, self.scene.legal(0), None)

    def send(self, command: Command) -> Verdict:
        self.sent.append(command)
        self.scene.when(0, command)
        if self.session.on_entry is not None:
            self.session.on_entry(ViewEntry(len(self.sent), 0, None, self.scene.events))
        [refused] = self.scene.events_of(CommandRefused) or [None]
        return Verdict("c1", 1, refused and Refusal(refused.rule, refused.why))


class SceneSeat(TTRClient):
    """Seat 0 of a scene."""

    def __init__(self, scene: Scene) -> None:
        self.seat, self.client = SeatToken("", "scene", 0, ""), SceneClient(scene)
        self._client, self._last_shown = cast(SeatClient, self.client), 0
        self.client.session.on_entry = self._notify
        self.shown: list[tuple[object, ...]] = []


class Player(SceneSeat):
    """Seat 0 of a scene, and what it was shown."""

    def on_claim(self, player: int, edge: object, route: str) -> None:
        self.shown.append(("claim", player, route))

    def on_station(self, player: int, node: int) -> None:
        self.shown.append(("station", player, self.my_map.nodes[node].name))

    def on_demand(self, player: int, edge: object, cards: int) -> None:
        self.shown.append(("demand", player, cards))


def at(**position: Any) -> Player:
    """Seat 0 of a europe game of two, in this position; it is to act."""
    return Player(given(rules="europe", **position))


def place(player: Player, city: str) -> int:
    found = player.my_map.position(city)
    assert found is not None
    return found


# -- cards -----------------------------------------------------------------------------


def test_CARD_1_a_draw_returns_1_also_when_the_second_card_was_the_last() -> None:
    player = at(deck=["red", "blue"], market=[None] * 5)
    assert player.draw_card_from_deck() == player.draw_card_from_deck() == 1
    assert [card.color for card in player.my_player.hand].count("b") >= 1


def test_CARD_4_a_draw_returns_0_where_nothing_is_left() -> None:
    assert at(deck=[], market=["red"] * 5).draw_card_from_deck() == 0
    player = at(market=["red"] * 5)
    assert player.draw_card_from_open_deck("b") == 0
    assert player.drawCardFromOpenDeck("r") == 1
    assert player.client.sent[-1].type == "draw_market"


def test_CARD_2_an_engine_is_no_second_card() -> None:
    player = at(market=["locomotive", "red", "red", "blue", "green"])
    assert player.draw_card_from_open_deck("r") == 1
    assert player.draw_card_from_open_deck("e") == TTRCons.WRONG_DEMAND
    assert player.draw_card_from_open_deck("x") == TTRCons.WRONG_CONTENT
    assert len(player.client.sent) == 1, "what the rules forbid isn't sent"


def test_TURN_1_out_of_turn_every_call_is_rejected() -> None:
    player = at(turn=1)
    assert not player.my_turn
    assert player.draw_card_from_deck() == player.draw_missions() == TTRCons.REJECTED
    assert player.claim_route("Paris", "Pamplona", "b", 4, 0) == TTRCons.REJECTED


# -- missions --------------------------------------------------------------------------


def test_SETUP_3_the_first_call_gives_back_two_at_most() -> None:
    scene = started(2, rules="europe")
    player = Player(scene)
    assert (player.first_missions, player.firstMissions) == (True, True)
    first, second, third, _ = player.offered_missions
    assert player.reject_missions(first._replace(points=99), None) == TTRCons.WRONG_CONTENT
    assert player.reject_missions(first, third) == 2
    assert (player.first_missions, len(player.offered_missions)) == (False, 0)
    assert [mission.id for mission in player.my_player.missions] == [
        second.id,
        player.my_player.missions[1].id,
    ]
    assert Player(started(2, rules="europe")).reject_missions(None, None) == 0
    assert Player(started(2, rules="europe")).keepAllMissions() == 0


def test_TICKET_1_drawn_missions_are_counted_and_one_at_least_is_kept() -> None:
    player = at()
    assert player.draw_missions() == 3
    one, two, three = player.offered_missions
    before = player.my_player.mission_count
    assert player.reject_missions(one, two) == 2
    assert player.my_player.mission_count == before + 1
    assert player.my_player.missions[-1] == three
    assert at(ticket_deck=[]).drawMissions() == 0
    assert at().keep_all_missions() < 0


# -- routes ----------------------------------------------------------------------------


def test_TUNNEL_1_a_claim_returns_how_many_more_cards_are_asked_for() -> None:
    player = at(hands=[{"blue": 6}], deck=["blue", "locomotive", "red"])
    assert player.claim_route("Zürich", "Venezia", "g", 2, 0) < 0
    green = at(hands=[{"green": 5}], deck=["green", "red", "locomotive", *["red"] * 5])
    assert green.claim_route("Zürich", "Venezia", "g", 2, 0) == 2
    assert green.shown == [("demand", 0, 2)]


def test_TUNNEL_3_the_same_call_with_the_whole_payment_pays() -> None:
    player = at(hands=[{"green": 4, "locomotive": 1}], deck=["green", "red", "locomotive", *["red"] * 5])
    ends = place(player, "Zürich"), place(player, "Venezia")
    assert player.claim_route(*ends, "g", 2, 0) == 2
    assert player.claim_route(*ends, "g", 1, 3) == TTRCons.WRONG_DEMAND, "less than the base of a kind"
    assert player.claim_route(place(player, "Paris"), place(player, "Brest"), "g", 4, 0) < 0
    assert player.claim_route(*ends, "g", 3, 0) == TTRCons.WRONG_CONTENT, "too little"
    assert player.claim_route(*ends, "g", 3, 1) == 0
    assert player.shown[-1] == ("claim", 0, player.client.scene.state.seats[0].own.routes[-1])
    assert [card.color for card in player.my_player.hand] == ["g"]


def test_TUNNEL_3_a_tunnel_is_declined_by_claim_pass() -> None:
    player = at(hands=[{"green": 4}], deck=["green", *["red"] * 7])
    assert player.claim_pass() == TTRCons.WRONG_DEMAND
    assert player.claimRoute("Zürich", "Venezia", "g", 2, 0) == 1
    assert player.claimPass() == 0
    assert player.my_player.cards == 4


def test_DOUBLE_1_of_parallel_routes_the_first_that_is_free_and_suits_is_claimed() -> None:
    for color, card, track in (("w", "white", "a"), ("o", "orange", "b")):
        player = at(hands=[{card: 3}])
        assert player.claim_route("Frankfurt", "Paris", color, 3, 0) == 0
        assert player.client.scene.state.seats[0].own.routes == [f"frankfurt-paris-{track}"]
    player = at(hands=[{"white": 3}], owners={"frankfurt-paris-a": 1})
    assert player.claim_route("Frankfurt", "Paris", "w", 3, 0) == TTRCons.WRONG_DEMAND, "the second is closed"
    gray = at(hands=[{"red": 2}])
    assert gray.claim_route("Venezia", "zagrab", "r", 2, 0) == 0


def test_ROUTE_2_a_payment_that_is_none_fails() -> None:
    player = at(hands=[{"red": 3}])
    for wagons, engines, color in ((0, 0, "r"), (-1, 2, "r"), (2, 0, "*"), (2, 0, "e"), (2, 0, "0")):
        assert player.claim_route("Paris", "Brest", color, wagons, engines) == TTRCons.WRONG_CONTENT
    assert player.claim_route("Paris", "Nowhere", "r", 2, 0) == TTRCons.WRONG_CONTENT
    assert player.claim_route(0, 99, "r", 2, 0) == TTRCons.WRONG_CONTENT
    assert player.claim_route("Paris", "Lisboa", "r", 2, 0) == TTRCons.WRONG_CONTENT


# -- stations --------------------------------------------------------------------------


class Stationless(Player):
    """Tries everything but to build."""

    def my_method(self) -> None:
        assert self.draw_card_from_deck() == self.draw_missions() == 0


def test_TURN_4_the_kit_passes_for_a_player_that_builds_no_station_where_nothing_else_is_possible() -> None:
    player = Stationless(
        given(rules="europe", hands=[{"red": 1}, {}], deck=[], market=[None] * 5, ticket_deck=[], cars=[0, 0])
    )
    player.play()
    assert player.client.sent == [Pass()]
    assert player.my_player.stations == 3


def test_STATION_3_a_station_is_built_with_or_without_the_borrowed_neighbour() -> None:
    for neighbour, named in (("Paris", "paris"), (None, None)):
        player = at(hands=[{"red": 2}])
        assert player.build_station("Brest", neighbour, "r", 1, 0) == 0
        assert player.client.scene.state.seats[0].own.stations == {"brest": named}
        assert player.shown == [("station", 0, "Brest")]
        assert player.my_player.stations == 2
    assert at(hands=[{"red": 2}]).build_station("Brest", "Moskva", "r", 1, 0) == TTRCons.WRONG_CONTENT
    assert at(hands=[{"red": 2}]).buildStation("Brest", None, "r", 2, 0) == TTRCons.WRONG_CONTENT
    assert at(hands=[{}]).build_station("Brest", None, "r", 1, 0) == TTRCons.WRONG_DEMAND


# -- what it sees ----------------------------------------------------------------------


def test_the_map_has_owners_and_the_players_are_all_there() -> None:
    player = at(owners={"pamplona-paris-a": 1}, stations={"brest": (1, None)})
    edge = player.myMap.edge_of("pamplona-paris-a")
    assert 1 in (edge.owner1, edge.owner2)
    assert {player.my_map.nodes[n].name for n in (edge.node1, edge.node2)} == {"Paris", "Pamplona"}
    assert player.my_map.nodes[place(player, "Brest")].station == 1
    other = player.playerList[1]
    assert (other.hand, other.missions, other.mission_count) == ((), (), 2)
    assert (player.myPlayer.wagons, player.isLastRound, player.myTurn) == (45, False, True)
    assert player.my_player.remaining_ms == 120_000


def test_a_class_without_its_method_says_so() -> None:
    with pytest.raises(NotImplementedError, match="write my_method"):
        at().my_method()


# -- codes and files -------------------------------------------------------------------


def test_the_page_says_what_is_decided_of_their_text_and_why() -> None:
    decided = DOCS.split("Where their text is silent:\n")[1].split("`ledgerline board")[0]
    items = dict(re.findall(r"^- \*\*(\w+)\*\* (.+(?:\n  .+)*)", decided, re.MULTILINE))
    assert items.keys() == {"0", "TTRMissions", "wildcard"}
    assert all("since" in reason for reason in items.values())
    taken = at(market=["red", "blue", "green", "white", "black"], deck=[])
    assert [taken.draw_card_from_open_deck("r") for _ in range(2)] == [1, 0], "it lies there no more"
    assert isinstance(taken.my_player.missions, tuple)


def test_every_rule_has_a_code_and_the_page_has_the_same() -> None:
    assert {*GAME_RULES, *TRAIN_RULES} <= CODE_BY_RULE.keys() <= ALL_RULES.keys()
    assert {code_of(rule) for rule in ALL_RULES} == set(range(-7, 0))
    rows = re.findall(r"^\| (-\d) \| [^|]* \| ([^|]*) \|$", DOCS, re.MULTILINE)
    on_page = {rule: int(code) for code, rules in rows for rule in re.findall(r"[A-Z]+-\d", rules)}
    assert on_page == dict(CODE_BY_RULE)


@pytest.mark.parametrize(
    ("board", "theirs", "ours"),
    [
        ("europe", ["Munchen", "Kobenhavn", "Kyiv", "Athina", "Zagrab"], ["München", "København", "Kyïv"]),
        ("europe", ["Zurich", "Cadiz", "Copenhagen"], ["Zürich", "Cádiz", "København"]),
        ("usa", ["Montreal", "St. Louis"], ["Montréal", "Saint Louis"]),
    ],
)
def test_a_city_goes_by_its_name_with_or_without_accents(
    board: str, theirs: list[str], ours: list[str]
) -> None:
    player = Player(given(rules=board))
    places = [place(player, name) for name in theirs]
    for found, name in zip(places, ours, strict=False):
        assert player.my_map.nodes[found].name == name
    assert [player.my_map.position(name) for name in ("Nowhere", "", "-1")] == [None] * 3


def test_ROUTE_1_calls_take_cities_as_the_rule_text_spells_them() -> None:
    player = at(hands=[{"orange": 3, "locomotive": 3, "red": 1}])
    assert player.claim_route("Munchen", "Wien", "o", 3, 0) == 0
    assert player.client.scene.state.seats[0].own.routes == ["munchen-wien-a"]
    builder = at(hands=[{"red": 2}])
    assert builder.build_station("Kobenhavn", "Stockholm", "r", 1, 0) == 0
    assert builder.client.scene.state.seats[0].own.stations == {"kobenhavn": "stockholm"}


# -- the class from its page alone ------------------------------------------------------------

SECTION = DOCS.split("## AI-MAS players\n")[1]
ROWS = dict(re.findall(r"^\| (`.+?`) \| (.*) \|$", SECTION, re.MULTILINE))


def first_name(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def test_every_name_of_the_page_is_there_and_so_is_its_first_name() -> None:
    names = [name for row in ROWS for name in re.findall(r"`(\w+)", row)]
    assert {"draw_missions", "offered_missions", "open_deck", "open_tunnel", "on_demand"} < set(names)
    for name in names:
        first = getattr(TTRClient, first_name(name))
        assert name.startswith("on_") or first is getattr(TTRClient, name), name


@pytest.mark.parametrize(
    ("row", "classes"),
    [
        ("`my_map`", (TTRNode, TTREdge)),
        ("`my_player`, `player_list`", (TTRPlayer, TTRCard)),
        ("`offered_missions`", (TTRMission,)),
        ("`open_tunnel`", (TTRTunnel,)),
    ],
)
def test_the_page_names_every_attribute(row: str, classes: tuple[Any, ...]) -> None:
    named = set(re.findall(r"`(\w+)`", ROWS[row])) - {"None", "nodes", "edges"}
    assert named == {name for each in classes for name in each._fields}


class FromThePage(SceneSeat):
    """A player with the first names alone."""

    def myMethod(self) -> None:
        if self.firstMissions or self.offeredMissions:
            self.heard = [(mission.source, mission.points) for mission in self.offeredMissions]
            self.keepAllMissions()
        elif self.openDeck:
            self.drawCardFromOpenDeck(self.openDeck[0])

    def onClaim(self, player: int, edge: object, route: str) -> None:
        self.claimed = route


def test_a_player_of_first_names_alone_plays_and_hears() -> None:
    player = FromThePage(started(2, rules="europe"))
    player.my_method()
    assert len(player.heard) == 4
    player = FromThePage(given(rules="europe", market=["red", "blue", "green", "black", "white"]))
    player.my_method()
    assert player.client.sent == [DrawMarket(color="red")]
    player = FromThePage(given(rules="europe", hands=[{"red": 8}]))
    edge = next(
        edge for edge in player.myMap.edges if edge.color1 in "*r" and not edge.tunnel and not edge.eng
    )
    assert player.claimRoute(edge.node1, edge.node2, "r", edge.cars, 0) == 0
    assert player.claimed in edge.routes


def test_TUNNEL_2_an_open_tunnel_is_seen_also_by_who_comes_back() -> None:
    player = at(hands=[{"red": 5, "locomotive": 1}], deck=["red", "blue", "green"])
    edge = next(edge for edge in player.my_map.edges if edge.tunnel and edge.color1 == "*" and edge.cars == 2)
    seen = [player.open_tunnel]
    for wagons, asked in ((1, 1), (2, 0)):
        assert player.claim_route(edge.node1, edge.node2, "r", wagons, 1) == asked
        seen.append(player.open_tunnel)
    assert seen == [None, TTRTunnel(edge.node1, edge.node2, "r", 1, 1, 1), None]
