"""AI-MAS players at tables of a running server: whole games against bots, with the clock, play-off included."""

from __future__ import annotations

from random import Random

import httpx
import pytest

from examples.random_solution import RandomSolution
from schemas.published_contracts import ALL_RULES
from schemas.stored.codec import unpack_entry
from schemas.trains.commands import KeepTickets
from services.bots.kit import KitError
from services.ledger import RedisLedger
from services.trains.ai_mas import TTRClient
from tests.gateway.clients import CreatedGame

# Nobody holds a card or gets a ticket, and one turn each begins the last ones: all that only draw are tied.
NO_TICKETS = {"long": 0, "regular": 0}
LEVEL = {
    "draw_tickets": NO_TICKETS,
    "draw_keep": 0,
    "start_tickets": NO_TICKETS,
    "start_keep": 0,
    "last_cars": 45,
    "hand": 0,
    "play_off": 3,
}


def address(http: httpx.Client) -> tuple[str, int]:
    return http.base_url.host, http.base_url.port or 80


class Seeded(RandomSolution):
    """The example with a seed."""

    random = Random(7)


class Drawer(TTRClient):
    """Draws two cards in its way: in a loop until 1 comes back."""

    def myMethod(self) -> None:
        if self.firstMissions:
            self.keepAllMissions()
            return
        while self.drawCardFromDeck() != 1:
            pass


@pytest.mark.parametrize("cars", [10, pytest.param(45, marks=pytest.mark.long)])
def test_their_example_plays_a_whole_game_with_their_clock(
    cars: int, http: httpx.Client, ledger: RedisLedger
) -> None:
    # given
    created = CreatedGame(
        http, "human", "greedy", "random", ruleset="europe", clock="ai-mas", options={"cars": cars}
    )
    player = Seeded("Ada", "", "Random", created.game, *address(http))
    created.start()
    # when
    [result] = player.play()
    # then
    entries = [unpack_entry(data) for data in ledger.read_entries(created.game)]
    own = [entry for entry in entries if entry.seat == player.seat.seat]
    assert result == entries[-1].events[-1]
    assert [entry for entry in own if entry.refusal] == [], "what the rules forbid isn't sent"
    assert isinstance(own[0].command, KeepTickets)
    assert len({entry.id for entry in own}) == len(own) > 3
    assert player.player_list[0].name == "Ada Random"
    assert 0 < (player.my_player.remaining_ms or 0) < 120_000


def test_CLOCK_1_a_player_without_a_game_makes_a_table_with_their_clock(http: httpx.Client) -> None:
    player = Drawer("Ada", "", "", "", *address(http))
    table = http.get(f"/v1/games/{player.seat.game}/state").json()
    assert (table["ruleset"], table["status"]) == ("europe", "playing")
    assert [seat["policy"] for seat in table["seats"]] == [None, "greedy"]
    created = http.get(f"/v1/games/{player.seat.game}/view").json()["entries"][0]["events"][0]
    assert created["parameters"]["clock_ms"] == 120_000


@pytest.mark.long
def test_TIE_1_a_player_goes_on_into_the_play_off_by_itself(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "random", ruleset="europe", clock="ai-mas", options=LEVEL)
    player = Drawer("Ada", created.reply["invitations"][0]["invitation"], "", created.game, *address(http))
    created.start()
    results = player.play()
    assert len(results) == 4, "three games in which all are tied follow"
    assert [score.place for score in results[0].scores] == [1, 1]
    assert player.seat.game == f"{created.game}-po{len(results) - 1}"


def test_a_token_opens_its_seat_and_a_wrong_one_is_an_error(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "random", ruleset="europe")
    seat = created.join("Ada")
    assert Drawer("Ada", seat.token, "", created.game, *address(http)).seat.seat == seat.seat
    with pytest.raises(KitError, match=ALL_RULES["TOKEN-1"] + "|isn't a token of ours"):
        Drawer("Ada", "wrong", "", created.game, *address(http))


class Crash(Exception):  # noqa: N818 - it is no error of anybody
    """The player's process is gone."""


class Crashing(Seeded):
    """Crashes once it has sent something, in the middle of its turn."""

    def my_method(self) -> None:
        """One step of a turn, and no more."""
        super().my_method()
        if not self.first_missions and self.open_deck:
            raise Crash


@pytest.mark.long
def test_a_player_that_crashed_takes_its_seat_again_with_its_token(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    created = CreatedGame(http, "human", "greedy", ruleset="europe", clock="ai-mas", options={"cars": 6})
    player = Crashing("Ada", created.reply["invitations"][0]["invitation"], "", created.game, *address(http))
    created.start()
    results, crashes, seat = None, 0, player.seat
    while results is None:
        try:
            results = player.play()
        except Crash:
            crashes += 1
            player = Crashing("Ada", player.seat.token, "", created.game, *address(http))
    assert crashes > 3
    assert player.seat.seat == seat.seat
    [*_, last] = ledger.read_entries(created.game)
    assert results == [unpack_entry(last).events[-1]]
