"""A rematch: the same people and bots by the same rules, offered by anybody who sat at a game that is over."""

from __future__ import annotations

import httpx
import pytest

from services.ledger import RedisLedger
from tests.gateway.clients import CreatedGame, Json, Player, bearer, ended, problem
from tests.gateway.test_stored_games import become_one_value

SHORT: Json = {"cars": 45, "last_cars": 42}


def rematch(http: httpx.Client, game: str, token: str | None, method: str = "GET") -> Json:
    """Where the rematch of a game is, as a token's holder is answered; a POST offers it."""
    reply = http.request(method, f"/v1/games/{game}/rematch", headers=bearer(token))
    answer: Json = reply.raise_for_status().json()
    return answer


@pytest.fixture
def table(http: httpx.Client) -> tuple[CreatedGame, list[Player]]:
    """A game of two people and a bot, which both have left."""
    created = CreatedGame(
        http, "human", "human", "random", options=SHORT, visibility="unlisted", suggestions=False
    )
    players = [created.join(name) for name in ("Ada", "Bo")]
    created.start()
    for player in players:
        http.post(f"/v1/games/{created.game}/leave", headers=bearer(player.token)).raise_for_status()
    ended(http, created.game)
    return created, players


def test_none_is_offered_before_the_end(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "random")
    ada = created.join("Ada")
    created.start()
    reply = http.post(f"/v1/games/{created.game}/rematch", headers=bearer(ada.token))
    problem(reply, 409, "GAME-7")
    assert rematch(http, created.game, ada.token)["game"] is None


def test_it_is_one_game_whoever_offers_it_and_keeps_a_place_for_each(
    http: httpx.Client, table: tuple[CreatedGame, list[Player]]
) -> None:
    created, (ada, bo) = table
    offered = rematch(http, created.game, bo.token, "POST")
    assert (offered["seat"], offered["token"]) == (1, None)
    found = rematch(http, created.game, ada.token)
    assert (found["game"], found["seat"]) == (offered["game"], 0)
    assert rematch(http, created.game, ada.token, "POST") == found
    joined = [
        http.post(
            f"/v1/games/{found['game']}/join", json={"name": name, "invitation": each["invitation"]}
        ).json()
        for name, each in (("Ada", found), ("Bo", offered))
    ]
    assert [each["seat"] for each in joined] == [0, 1]
    started = http.post(f"/v1/games/{found['game']}/start", headers=bearer(joined[1]["token"]))
    started.raise_for_status()


def test_it_is_played_by_the_same_rules_with_the_same_bots(
    http: httpx.Client, table: tuple[CreatedGame, list[Player]]
) -> None:
    created, (ada, _) = table
    again = rematch(http, created.game, ada.token, "POST")["game"]

    def creation(game: str) -> tuple[Json, Json, list[tuple[int, str]]]:
        events = http.get(f"/v1/games/{game}/view").json()["entries"][0]["events"]
        made, access = (
            next(each for each in events if each["type"] == kind) for kind in ("game_created", "access_set")
        )
        bots = [(each["seat"], each["policy"]) for each in events if each["type"] == "seat_taken"]
        rules = {field: made[field] for field in ("ruleset", "board", "parameters")}
        return rules, access | {"by_invitation": None}, bots

    assert creation(again) == creation(created.game)


def test_who_only_watched_learns_of_the_game_and_takes_no_place(
    http: httpx.Client, table: tuple[CreatedGame, list[Player]]
) -> None:
    created, (ada, _) = table
    assert rematch(http, created.game, None)["game"] is None
    game = rematch(http, created.game, ada.token, "POST")["game"]
    assert rematch(http, created.game, None) == {
        "game": game, "seat": None, "invitation": None, "token": None,
    }  # fmt: skip
    problem(http.post(f"/v1/games/{created.game}/rematch"), 401, "TOKEN-1")
    problem(http.post(f"/v1/games/{game}/join", json={"name": "Mal"}), 401, "TOKEN-1")


def test_the_host_is_the_host_of_the_rematch(
    http: httpx.Client, table: tuple[CreatedGame, list[Player]]
) -> None:
    created, (ada, _) = table
    game = rematch(http, created.game, ada.token, "POST")["game"]
    host = rematch(http, created.game, created.host)["token"]
    freed = http.post(f"/v1/games/{game}/seats/2/free", headers=bearer(host))
    assert freed.status_code != 401
    assert http.post(f"/v1/games/{game}/end", headers=bearer(ada.token)).status_code in {401, 403}


def test_it_is_found_when_both_games_have_left_the_engines_streams(
    http: httpx.Client, ledger: RedisLedger, table: tuple[CreatedGame, list[Player]]
) -> None:
    # given
    created, (ada, bo) = table
    places = [rematch(http, created.game, each.token, "POST") for each in (ada, bo)]
    game = places[0]["game"]
    invited = [{"name": f"Player {place['seat']}", "invitation": place["invitation"]} for place in places]
    joined = [http.post(f"/v1/games/{game}/join", json=each).raise_for_status().json() for each in invited]
    for action, who in (("start", joined[0]), ("leave", joined[0]), ("leave", joined[1])):
        reply = http.post(f"/v1/games/{game}/{action}", headers=bearer(who["token"]))
        reply.raise_for_status()
    ended(http, game)
    # when
    for each in (created.game, game):
        become_one_value(ledger, each)
    # then
    assert rematch(http, created.game, None)["game"] == game
    assert rematch(http, created.game, bo.token, "POST")["game"] == game
