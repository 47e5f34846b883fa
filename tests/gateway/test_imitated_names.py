"""Nobody sits beside whom it imitates: by letters that look alike or can't be seen, or by a name that bots have."""

from __future__ import annotations

from typing import Final

import httpx
import pytest

from services.referee.player_names import imitates_bot, look_alike
from tests.gateway.clients import CreatedGame, bearer, problem

ALIKE: Final = (
    ("Bo", "B\u043e"),  # a Cyrillic letter
    ("Zo\xeb", "Zoe\u0308"),  # NFC and NFD
    ("Ada", "\uff21da"),  # full width
    ("Ada Lovelace", "ada  lovelace"),
    ("Alan", "AIan"),
    ("Kim", "Kirn"),
    ("Oto", "0to"),
)
BOTS: Final = (
    "greedy 2",
    "Greedy",
    "gr\u0435edy 7",
    "RANDOM",
    "hold-10 3",
    "planner#4",
    "\uff47reedy",
    "searcher 12",
)
UNSEEN: Final = (
    "Ada\u3164",
    "\u2800",
    "Ada\u2800",
    "A\u034fda",
    "Ada\ufe0f",
    "\u115fAda",
    "A\u200bda",
    "\u0301Ada",
)


def join(created: CreatedGame, name: str) -> httpx.Response:
    return created.http.post(f"/v1/games/{created.game}/join", json={"name": name})


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_GAME_4_two_at_one_table_have_no_names_that_look_alike(
    http: httpx.Client, first: str, second: str
) -> None:
    # given
    created = CreatedGame(http, "human", "human")
    ada = created.join(first)
    # when
    refused = problem(join(created, second), 409, "GAME-4")
    # then
    assert "looks like it" in refused["detail"]
    assert [seat.is_seated for seat in ada.look().seats] == [True, False]
    assert join(CreatedGame(http, "human", "human"), second).status_code == 200, "it is free elsewhere"


@pytest.mark.parametrize("name", BOTS)
def test_GAME_4_a_name_as_bots_have_is_no_persons(http: httpx.Client, name: str) -> None:
    # given
    created = CreatedGame(http, "human", "human")
    # when
    refused = problem(join(created, name), 409, "GAME-4")
    # then
    assert "looks like a bot's" in refused["detail"]
    view = http.get(f"/v1/games/{created.game}/view", headers=bearer(created.host)).json()
    assert len(view["entries"]) == 1, "the log has no such name"


@pytest.mark.parametrize("name", UNSEEN)
def test_a_name_with_letters_that_cannot_be_seen_is_refused(http: httpx.Client, name: str) -> None:
    problem(join(CreatedGame(http, "human", "human"), name), 422, "SHAPE-1", "name")


def test_a_name_is_kept_in_one_spelling(http: httpx.Client) -> None:
    player = CreatedGame(http, "human", "human").join("\uff21da \u2168 Zoe\u0308")
    assert player.look().seats[0].name == "Ada IX Zo\xeb"


@pytest.mark.parametrize(
    ("seats", "field"),
    [
        ([("human", "Bo"), ("human", "B\u043e")], "seats.1.name"),
        ([("human", "greedy 2"), ("human", "Ada")], "seats.0.name"),
        ([("greedy", "Ada"), ("greedy", "ADA")], "seats.1.name"),
        ([("greedy", "random 2"), ("random", None)], "seats.1.name"),
    ],
)
def test_GAME_6_a_plan_has_no_names_that_look_alike(
    http: httpx.Client, seats: list[tuple[str, str | None]], field: str
) -> None:
    plans = [
        {"kind": "human" if kind == "human" else "bot"}
        | ({} if kind == "human" else {"policy": kind})
        | ({"name": name} if name else {})
        for kind, name in seats
    ]
    refused = problem(http.post("/v1/games", json={"seats": plans}), 422, "GAME-6")
    assert field in refused["detail"]


def test_names_that_only_resemble_each_other_are_free() -> None:
    for one, other in (
        ("Ada", "Ad\xe1"),
        ("\u738b", "\u7389"),
        ("\u5c71", "w"),
        ("Bo", "Bob"),
        ("Ada 2", "Ada 3"),
    ):
        assert not look_alike(one, other)
    for name in ("Plan", "Hold", "Randomir", "Ada 2", "greedier"):
        assert not imitates_bot(name)
