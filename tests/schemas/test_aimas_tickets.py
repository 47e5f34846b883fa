"""The tickets of an AI-MAS map: in a file beside it, or invented."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import InvalidInputError
from schemas.trains.boards.aimas import read_aimas_map, with_listed_tickets
from schemas.trains.boards.form import BOARD_SCHEMA
from services.trains.board_files import read_board_file
from tests.rules.given import started
from tests.schemas.test_aimas_maps import CITIES, LOOP, edge, xml

TICKETS: dict[str, Any] = {
    "long": [["Edinburgh", "Roma", 20], ["Wien", "London", 19], [0, 4, 21]],
    "short": [[a, b, 5 + n] for n, (a, b) in enumerate(zip(CITIES, CITIES[2:], strict=False))]
    + [["Paris", "London", 4], ["Wien", "Roma", 6], ["Roma", "Paris", 7]],
}


def map_file(folder: Path, tickets: object | None, name: str = "kit.xml") -> Path:
    """A map, with a file of tickets beside it unless that is None."""
    path = folder / name
    path.write_text(xml(*LOOP))
    if tickets is not None:
        text = tickets if isinstance(tickets, str) else json.dumps(tickets)
        (folder / f"{path.stem}.tickets.json").write_text(text)
    return path


@pytest.mark.parametrize("name", ["kit.xml", "kit", "My kit.v2.map"])
def test_a_file_beside_the_map_lists_its_tickets(tmp_path: Path, name: str) -> None:
    form = read_board_file(map_file(tmp_path, TICKETS, name))
    assert Counter(ticket.deck for ticket in form.tickets) == {"long": 3, "regular": 7}
    first = form.tickets[0]
    assert (first.id, first.between, first.points) == ("edinburgh:roma", ("edinburgh", "roma"), 20)
    assert form.tickets[2].between == ("edinburgh", "wien")
    assert form.options == {"route_points": [None, 2]}
    assert BOARD_SCHEMA.read(BOARD_SCHEMA.write(form)) == form


def test_a_game_on_it_deals_one_long_ticket_and_three_short_ones_to_each_seat(tmp_path: Path) -> None:
    board = BOARD_SCHEMA.write(read_board_file(map_file(tmp_path, TICKETS)), exclude_defaults=True)
    game = started(2, rules="europe", board=board)
    decks = [
        [game.state.own.board.tickets[str(ticket)].deck for ticket in game.seat_state(seat).own.offer]
        for seat in (0, 1)
    ]
    assert [Counter(row) for row in decks] == [{"long": 1, "regular": 3}] * 2


def test_without_long_tickets_each_seat_is_dealt_three_short_ones(tmp_path: Path) -> None:
    form = read_board_file(map_file(tmp_path, {"short": TICKETS["short"]}))
    game = started(2, rules="europe", board=BOARD_SCHEMA.write(form, exclude_defaults=True))
    assert [len(game.seat_state(seat).own.offer) for seat in (0, 1)] == [3, 3]


def test_without_a_file_beside_it_tickets_are_invented(tmp_path: Path) -> None:
    form = read_board_file(map_file(tmp_path, None))
    assert form == read_aimas_map(xml(*LOOP), "kit")
    game = started(2, rules="europe", board=BOARD_SCHEMA.write(form, exclude_defaults=True))
    assert len(game.state.own.board.tickets) == 15
    assert {ticket.points for ticket in game.state.own.board.tickets.values()} == {10}


def test_a_ticket_may_be_listed_twice_under_ids_of_its_own() -> None:
    form = with_listed_tickets(
        read_aimas_map(xml(*LOOP)), {"short": [["Wien", "Roma", 5], ["Roma", "Wien", 6]]}
    )
    assert [ticket.id for ticket in form.tickets] == ["roma:wien", "roma:wien-2"]


@pytest.mark.parametrize(
    ("tickets", "why"),
    [
        ("", "isn't JSON: "),
        ("[" * 100_000, "is nested too deep"),
        ('{"short": [], "short": []}', "'short' stands twice in one object"),
        ([], "tickets: must be an object with the lists long and short, and no more"),
        ({}, "tickets: must be an object with the lists long and short, and no more"),
        ({**TICKETS, "regular": []}, "tickets: must be an object with the lists long and short, and no more"),
        ({"short": {}}, "short: must be a list of [city, city, points], not {}"),
        ({"short": []}, "short: must list tickets"),
        ({"long": TICKETS["long"]}, "short: must list tickets"),
        ({"short": [["Wien", "Roma"]]}, "short.0: must be [city, city, points], not ['Wien', 'Roma']"),
        ({"short": [["Wien", "Roma", "5"]]}, "short.0: must be [city, city, points], not "),
        ({"short": [["Wien", "Roma", True]]}, "short.0: must be [city, city, points], not "),
        ({"short": [[True, "Roma", 5]]}, "short.0: must be [city, city, points], not "),
        ({"short": [["Wien", "Roma", 0]]}, "short.0: the points are 1 to 100, not 0"),
        ({"short": [["Wien", "Roma", 101]]}, "short.0: the points are 1 to 100, not 101"),
        ({"long": [["Wien", "Rom", 5]]}, "long.0: there is no node 'Rom'"),
        ({"long": [["Wien", 6, 5]]}, "long.0: there is no node 6; there are 6, from 0"),
        ({"long": [["Wien", -1, 5]]}, "long.0: there is no node '-1'"),
        ({"long": [["Wien", 4, 5]]}, "long.0: joins a city to itself"),
    ],
)
def test_a_fault_in_the_tickets_is_named_with_their_file(tmp_path: Path, tickets: object, why: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_board_file(map_file(tmp_path, tickets))
    assert refused.value.reason.removeprefix(f"{tmp_path}/kit.tickets.json: ").startswith(why)


def test_a_ticket_to_a_city_without_a_route_is_named(tmp_path: Path) -> None:
    map_file(tmp_path, {"short": [["Wien", "Roma", 5]]}).write_text(xml(edge("Wien", "Paris")))
    with pytest.raises(InvalidInputError, match="ticket roma:wien: no route leads to roma"):
        read_board_file(tmp_path / "kit.xml")


def test_a_folder_in_place_of_the_tickets_is_refused(tmp_path: Path) -> None:
    path = map_file(tmp_path, None)
    (tmp_path / "kit.tickets.json").mkdir()
    with pytest.raises(InvalidInputError, match=r"kit\.tickets\.json: can't be read"):
        read_board_file(path)


def test_a_map_of_another_form_has_its_tickets_in_itself(tmp_path: Path) -> None:
    (tmp_path / "kit.tickets.json").write_text("no tickets")
    (tmp_path / "kit.json").write_text('{"width": 10, "height": 10, "cities": [], "connections": {}}')
    assert read_board_file(tmp_path / "kit.json").tickets == ()


def test_the_examples_on_the_page_are_a_map_and_its_tickets(tmp_path: Path) -> None:
    page = (
        (Path(__file__).parents[2] / "docs" / "reference" / "boards.md")
        .read_text()
        .split("### AI-MAS maps")[1]
    )
    (tmp_path / "north.xml").write_text(page.split("```xml\n")[1].split("```")[0])
    (tmp_path / "north.tickets.json").write_text(page.split("```json\n")[1].split("```")[0])
    form = read_board_file(tmp_path / "north.xml")
    assert (form.title, len(form.cities), len(form.routes)) == ("North", 4, 4)
    assert [(ticket.deck, ticket.between) for ticket in form.tickets] == [
        ("long", ("edinburgh", "paris")),
        ("regular", ("london", "paris")),
        ("regular", ("dieppe", "edinburgh")),
        ("regular", ("dieppe", "london")),
    ]
