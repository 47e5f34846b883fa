"""Names in a question: those of cities and routes are ids as well, and what isn't there gets a suggestion."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.errors import InvalidInputError
from services.cli.trains.ask import MAX_SUGGESTIONS, answer_query
from tests.cli.command_line import ROOT
from tests.cli.test_ask import claim


def ask(**question: Any) -> Any:
    """The answer. The published schema of questions has ids only, so it isn't asked."""
    return answer_query(question, ROOT)


def test_routes_go_by_the_names_of_their_cities_in_positions_and_commands() -> None:
    hands = {"hands": [{"red": 9, "locomotive": 3}]}
    named = ask(
        seats=2,
        ruleset="usa",
        position={**hands, "routes": {"Miami-Atlanta": 1}},
        commands=[claim(0, "Nashville - St. Louis", red=2)],
        score=True,
    )
    by_id = ask(
        seats=2,
        ruleset="usa",
        position={**hands, "routes": {"atlanta-miami-a": 1}},
        commands=[claim(0, "nashville-saint-louis-a", red=2)],
        score=True,
    )
    assert named == by_id
    assert named["verdicts"][0]["events"][0]["route"] == "nashville-saint-louis-a"


def test_cities_go_by_other_spellings() -> None:
    tickets = [[{"between": ["Kiev", "Vienna"], "points": 8}]]
    answer = ask(seats=2, ruleset="europe", position={"tickets": tickets}, score=True)
    assert answer["score"][0]["tickets"][0]["between"] == ["kyiv", "wien"]


def test_a_route_that_may_be_two_is_refused_with_both() -> None:
    verdicts = ask(seats=2, commands=[claim(0, "Atlanta-New Orleans", red=4)])["verdicts"]
    assert verdicts[0] == {
        "accepted": False,
        "rule": "ROUTE-1",
        "why": "there is no route atlanta-new-orleans",
        "did_you_mean": ["atlanta-new-orleans-a", "atlanta-new-orleans-b"],
    }


def test_a_command_about_what_is_not_there_is_refused_with_suggestions_and_only_so_many() -> None:
    build = {"seat": 0, "type": "build_station", "city": "wein", "cards": {"red": 1}}
    move = {"seat": 0, "type": "move_passenger", "city": "berlin", "path": ["berlin-lepzig-a"]}
    answer = ask(ruleset="europe", seats=2, position={"hands": [{"red": 1}]}, commands=[build])
    assert answer["verdicts"][0]["did_you_mean"][0] == "wien"
    answer = ask(ruleset="marklin", seats=2, position={"passengers": {"berlin": 0}}, commands=[move])
    assert answer["verdicts"][0]["did_you_mean"][0] == "berlin-leipzig-a"
    answer = ask(seats=2, commands=[claim(0, "atlanta-mimai-a", red=5)] * 30 + [claim(0, "zzz-a", red=5)])
    suggested = [verdict.get("did_you_mean", [""])[0] for verdict in answer["verdicts"]]
    assert suggested == ["atlanta-miami-a"] * MAX_SUGGESTIONS + [""] * 11


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"board": "uas"}, "did you mean usa?"),
        ({"position": {"routes": {"atlanta-mimai-a": 0}}}, "routes.atlanta-mimai-a: there is no such route; did you"),
        (
            {"position": {"tickets": [[{"between": ["bostn", "miami"], "points": 3}]]}},
            "there is no city bostn; did you mean boston",
        ),
        ({"position": {"stations": {"bostn": {"seat": 0}}}}, "stations.bostn: there is no such city; did you"),
        ({"position": {"routes": {"Miami-Atlanta": 0, "atlanta-miami-a": 1}}}, "is there already"),
    ],
)  # fmt: skip
def test_a_position_about_what_is_not_there_is_refused_with_a_suggestion(
    fields: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidInputError) as error:
        ask(seats=2, **fields)
    assert why in str(error.value)
