"""Rule options that can't have their meaning are refused by name when the game is created."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.trains.commands import ClaimRoute
from services.referee.games import UnloggedRejectionError
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import created, given
from tests.rules.trains_map import SMALL

EUROPE_CARDS = TRAIN_RULESETS["europe"].rule_options.cards


@pytest.mark.parametrize(
    ("rules", "options", "entry"),
    [
        ("trains", {"draw_tickets": {"regular": 3}, "draw_keep": 1}, "draw_tickets"),
        ("usa", {"merchandise": {"black": [3]}}, "merchandise"),
        ("trains", {"merchandise": {"black": [3]}}, "merchandise"),
        ("usa", {"cards": {**EUROPE_CARDS, "passenger": 5}}, "cards"),
        ("europe", {"cards": {**EUROPE_CARDS, "locomotive4": 6}}, "cards"),
        ("marklin", {"start_tickets": {}}, "start_tickets"),
    ],
    ids=str,
)
def test_an_option_that_means_nothing_to_these_rules_is_refused(
    rules: str, options: dict[str, Any], entry: str
) -> None:
    with pytest.raises(UnloggedRejectionError, match=f"GAME-6: options.{entry}: "):
        created(2, options, rules=rules)


def test_ROUTE_7_of_a_kind_of_cards_that_is_of_no_use_there_may_be_none() -> None:
    given(2, options={"cards": {**EUROPE_CARDS, "passenger": 0, "locomotive4": 0}})


def a_board(kind: str, rules: str) -> dict[str, Any]:
    """Two routes, the first of which asks for a locomotive."""
    return {
        "format": 1,
        "id": "line",
        "title": "Line",
        "size": [100, 100],
        "cities": [{"id": city, "name": city, "at": [10, 10]} for city in ("ash", "bow", "cam")],
        "routes": [
            {
                "id": "ash-bow", "between": ["ash", "bow"], "length": 2, "color": "red", "kind": kind,
                "locomotives": 1,
            },
            {"id": "bow-cam", "between": ["bow", "cam"], "length": 2, "color": "red"},
        ],
        "tickets": [],
        "rules": rules,
        "options": {"start_tickets": {}, "start_keep": 0, "draw_tickets": {}, "draw_keep": 0},
    }  # fmt: skip


@pytest.mark.parametrize("rules", ["usa", "marklin"])
def test_FERRY_1_rules_without_ferries_refuse_routes_that_ask_for_locomotives(rules: str) -> None:
    with pytest.raises(UnloggedRejectionError, match="GAME-6: board: ash-bow asks for locomotives"):
        created(2, rules=rules, board=a_board("rail", rules))


@pytest.mark.parametrize("kind", ["ferry", "rail"])
def test_FERRY_1_rules_with_ferries_ask_for_the_locomotives_of_a_route_of_any_kind(kind: str) -> None:
    scene = given(2, rules="europe", board=a_board(kind, "europe"), hands=[{"red": 2, "locomotive": 1}, {}])
    claims = [choice for choice in scene.legal(0) if isinstance(choice, ClaimRoute)]
    asked = [claim.cards for claim in claims if claim.route == "ash-bow"]
    assert asked == [{"red": 1, "locomotive": 1}]
    scene.when(0, ClaimRoute("ash-bow", {"red": 2})).refused("FERRY-1")


def test_SETUP_4_what_is_given_back_out_of_the_game_is_offered_to_nobody() -> None:
    """Of ten destinations three seats can be offered five each, if what they don't keep comes back."""
    created(3, rules="trains", board=SMALL)
    created(2, {"start_return": "out"}, rules="trains", board=SMALL)
    with pytest.raises(UnloggedRejectionError, match="SETUP-4: board: 10 destinations, 3 seats need 15"):
        created(3, {"start_return": "out"}, rules="trains", board=SMALL)
