"""docs/rules: a page for every ruleset, with each of its rules once and the right rule options."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from schemas.refusals import GAME_RULES
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from schemas.trains.refusals import TRAIN_RULES
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA, RuleOptions
from services.referee.games.trains.board import board_names, load_board
from services.referee.games.trains.train_games import TRAIN_RULESETS

PAGES = Path(__file__).parents[2] / "docs" / "rules"


def ids(ranges: str) -> list[str]:
    """Rule ids from words like `SETUP-1..3`."""
    found = re.findall(r"([A-Z]+)-(\d)(?:\.\.(\d))?", ranges)
    return [f"{word}-{n}" for word, first, last in found for n in range(int(first), int(last or first) + 1)]


ALWAYS: Final = """
    SETUP-1..3 TURN-1..4 CARD-5 MARKET-1 ROUTE-1..6 TICKET-2 END-1 END-3..4 CLOCK-1..2 SCORE-1..2 TIE-1 CONDUCT-1..3
"""
MARKET: Final = "CARD-1..2 CARD-4 MARKET-2 DOUBLE-1..2 TICKET-1"
RULES_ON_PAGE: Final = {
    "usa": ids(f"{ALWAYS} {MARKET} SCORE-3"),
    "europe": ids(f"{ALWAYS} {MARKET} FERRY-1 TUNNEL-1..4 STATION-1..4 SCORE-3 SCORE-5"),
    "marklin": ids(f"{ALWAYS} {MARKET} CARD-3 ROUTE-7 TICKET-3 PASSENGER-1..3 MERCH-1 SCORE-4"),
    "trains": ids(f"{ALWAYS} SETUP-4 CARD-6 END-2 SCORE-3"),
}

# Rulesets with a board of their own. Where every pair of cities is a ticket any map will do.
WITH_OWN_BOARD: Final = [
    name for name, rules in TRAIN_RULESETS.items() if not rules.rule_options.pair_tickets
]


def page(ruleset: str) -> str:
    return (PAGES / f"{ruleset}.md").read_text()


def table_under(heading: str, text: str) -> dict[str, str]:
    """The rows of the table whose first heading this is."""
    (rows,) = re.findall(rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return dict(re.findall(r"^\| (.*?) \| (.*) \|$", rows, re.MULTILINE))


# -- which rules ---------------------------------------------------------------------


def test_every_ruleset_has_a_page_and_there_is_no_other_page() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == set(RULES_ON_PAGE) >= set(TRAIN_RULESETS)


@pytest.mark.parametrize("ruleset", RULES_ON_PAGE)
def test_every_rule_of_a_ruleset_is_once_on_its_page(ruleset: str) -> None:
    ids_on_page = re.findall(r"^- \*\*([A-Z]+-\d)\*\* ", page(ruleset), re.MULTILINE)
    assert sorted(ids_on_page) == sorted(RULES_ON_PAGE[ruleset])


def test_every_refusal_of_the_rules_is_on_a_page() -> None:
    assert {*GAME_RULES, *TRAIN_RULES} <= {rule for rules in RULES_ON_PAGE.values() for rule in rules}


@pytest.mark.parametrize("ruleset", RULES_ON_PAGE)
def test_a_page_names_no_rule_of_other_rulesets_only(ruleset: str) -> None:
    named = set(re.findall(r"\b[A-Z]+-\d\b", page(ruleset))) - {"RATE-1", "GAME-6"}
    assert named == set(RULES_ON_PAGE[ruleset])


# -- the options ---------------------------------------------------------------------


def colours_text(rule_options: RuleOptions) -> str:
    counts = {kind: count for kind, count in rule_options.cards.items() if kind in COLORS}
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))} in {len(counts)} colours"
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def wild_text(rule_options: RuleOptions) -> str | None:
    names = {LOCOMOTIVE: "locomotives", PLUS_FOUR: 'locomotives "+4"'}
    parts = [
        f"{rule_options.cards[kind]} {name}" for kind, name in names.items() if rule_options.cards.get(kind)
    ]
    return ", ".join(parts) or None


def flush_text(rule_options: RuleOptions) -> str | None:
    names = {LOCOMOTIVE: "locomotives", PASSENGER: "passenger cards"}
    return ", or ".join(f"{count} {names[kind]}" for kind, count in rule_options.flush.items()) or None


def offer_text(rule_options: RuleOptions, named: int, decks: Mapping[str, int], keep: str) -> str:
    names = " and ".join(sorted(decks, reverse=True))
    each = " and ".join(f"{count} {deck}" for deck, count in sorted(decks.items()))
    if named:
        each = f"{named} in a mix of {names}"
    elif len(rule_options.start_tickets) == 1:
        each = str(*decks.values())
    return f"{each}, keep {keep}"


def route_points_text(rule_options: RuleOptions) -> str:
    points = {length: score for length, score in enumerate(rule_options.route_points, 1) if score is not None}
    if all(length == score for length, score in points.items()):
        return "as many as its spaces"
    return ", ".join(f"{length}: {score}" for length, score in points.items())


def start_text(rule_options: RuleOptions) -> str:
    exactly = rule_options.start_keep == rule_options.start_keep_most
    keep = f"{'exactly' if exactly else 'at least'} {rule_options.start_keep}"
    return offer_text(rule_options, rule_options.start_named, rule_options.start_tickets, keep)


def draw_text(rule_options: RuleOptions) -> str | None:
    if not rule_options.draw_tickets and not rule_options.draw_named:
        return None
    return offer_text(
        rule_options, rule_options.draw_named, rule_options.draw_tickets, f"at least {rule_options.draw_keep}"
    )


def stations_text(rule_options: RuleOptions) -> str | None:
    costs = rule_options.station_costs
    return f"{len(costs)}, for {', '.join(map(str, costs))} cards" if costs else None


DAY_MS: Final = 86_400_000


def clock_text(rule_options: RuleOptions) -> str:
    """With people there is none unless its creation sets one."""
    for_bots = f"; {rule_options.clock_ms // 1000} s for bots alone" if rule_options.clock_ms else ""
    return f"none unless asked for{for_bots}"


def option_rows(rule_options: RuleOptions) -> dict[str, str]:
    """The rows that the page's table of options must have; an option that the game lacks has no row."""
    passenger_cards = rule_options.cards.get(PASSENGER)
    rows: dict[str, str | int | None] = {
        "seats": f"{rule_options.seats_least} to {rule_options.seats_most}",
        "who begins": {"seated": "the first seat", "age": "the oldest", "youngest": "the youngest"}[
            rule_options.order
        ],
        "train cars of each seat": rule_options.cars,
        "cards of each colour": colours_text(rule_options),
        "wild cards": wild_text(rule_options),
        "other cards": f"{passenger_cards} passenger cards" if passenger_cards else None,
        "deck in all": sum(rule_options.cards.values()),
        "hand at the start": rule_options.hand,
        "market": rule_options.market,
        "swept by": flush_text(rule_options) if rule_options.market else None,
        "starting tickets": start_text(rule_options),
        "later tickets": draw_text(rule_options),
        "points by spaces": route_points_text(rule_options),
        "points for a ticket": rule_options.pair_tickets,
        "cards turned up for a tunnel": rule_options.tunnel_cards if rule_options.station_costs else None,
        "stations of each seat": stations_text(rule_options),
        "points for a station not built": rule_options.station_points if rule_options.station_costs else None,
        'a "+4" is wild from': f"{rule_options.plus_four_least} spaces on"
        if rule_options.cards.get(PLUS_FOUR)
        else None,
        "passengers of each seat": rule_options.passengers,
        "points for the longest route": rule_options.longest_bonus,
        "points for most tickets": rule_options.most_tickets_bonus,
        "clock": clock_text(rule_options),
        "time for a move": f"{rule_options.move_ms // DAY_MS} days" if rule_options.move_ms else None,
    }
    return {label: str(value) for label, value in rows.items() if value}


def plain_words(label: str) -> str:
    """A row's heading without the words that `trains` has of its own."""
    own = {"rails": "train cars", "destinations": "tickets", "destination": "ticket", "path": "route"}
    return " ".join(own.get(word, word) for word in label.split())


@pytest.mark.parametrize("ruleset", TRAIN_RULESETS)
def test_the_options_on_a_page_are_the_rulesets(ruleset: str) -> None:
    rows = {plain_words(label): value for label, value in table_under("option", page(ruleset)).items()}
    assert rows == option_rows(TRAIN_RULESETS[ruleset].rule_options)


@pytest.mark.parametrize("ruleset", WITH_OWN_BOARD)
def test_the_rule_of_the_score_table_says_it_too(ruleset: str) -> None:
    points = {
        n: score
        for n, score in enumerate(TRAIN_RULESETS[ruleset].rule_options.route_points, 1)
        if score is not None
    }
    lengths, scores = (", ".join(map(str, row)) for row in (points.keys(), points.values()))
    assert f"A route of {lengths} spaces scores {scores} points at once." in " ".join(page(ruleset).split())


@pytest.mark.parametrize("ruleset", TRAIN_RULESETS)
def test_every_page_says_when_the_last_turns_begin_and_what_is_kept_of_refusals(ruleset: str) -> None:
    rule_options, text = TRAIN_RULESETS[ruleset].rule_options, page(ruleset).replace("\n  ", " ")
    few = {1: "one", 2: "two", 3: "three"}[rule_options.last_cars]
    who = {"all": "every seat has one more turn", "others": "every other seat has one more turn"}
    assert re.search(rf"with {few} (cars|rails) or fewer, {who[rule_options.last_turns]}", text)
    assert f"After {rule_options.refusals_kept} refusals" in text
    assert ("The game is strict" in text) == rule_options.strict


@pytest.mark.parametrize("ruleset", WITH_OWN_BOARD)
def test_the_board_on_a_page_is_the_rulesets(ruleset: str) -> None:
    text, board = page(ruleset), load_board(TRAIN_RULESETS[ruleset].default_board)
    kinds = Counter(route.kind for route in board.routes.values())
    assert f"{len(board.cities) - len(board.countries)} cities" in text
    assert f"{len(board.routes)} routes" in text
    assert f"{len(board.tickets)} **tickets**" in text
    for kind in kinds.keys() - {"rail"}:
        assert re.search(rf"\b{kinds[kind]} (routes )?are\s+\*{kind[:4]}", text)
    if board.countries:
        assert f"{len(board.countries)} neighbouring countries" in text


def test_the_page_on_time_has_the_limits_and_the_defaults() -> None:
    text = (PAGES.parent / "clocks.md").read_text()
    limits = RULE_OPTIONS_SCHEMA.json_schema()["properties"]
    for option in ("clock_ms", "move_ms"):
        most = limits[option]["anyOf"][0]["maximum"] // DAY_MS
        (row,) = re.findall(rf"^\| `{option}` \|.*\|$", text, re.MULTILINE)
        assert row.endswith(f"| 1 ms, {most} days |")
        usual = {getattr(rules.rule_options, option) for rules in TRAIN_RULESETS.values()} - {None}
        assert all(f"{figure:,}" in row for figure in usual)
    no_clock = [name for name in board_names() if load_board(name).rule_options.get("clock_ms", 0) is None]
    assert f"none on the boards {' and '.join(no_clock)}" in text


@pytest.mark.parametrize("ruleset", TRAIN_RULESETS)
def test_every_page_says_what_a_removed_seat_scores_and_what_an_empty_deck_leaves(ruleset: str) -> None:
    text, options = " ".join(page(ruleset).split()), TRAIN_RULESETS[ruleset].rule_options
    assert "It scores 0, since nothing of its own is left to count" in text
    assert ("none for stations, built or not" in text) == bool(options.station_costs)
    assert ("none for the tokens that it collected" in text) == bool(options.passengers)
    assert ("you may still take what lies in the market" in text) == bool(options.market)
    assert ("a game that starts from a position may begin with three" in text) == bool(options.flush)


# -- the worked examples -------------------------------------------------------------

BLUE_OF_THREE = (
    "A blue route of three: 3 blue; 2 blue and a locomotive; 1 blue and 2 locomotives; or 3 locomotives."
)
GRAY_OF_TWO = "A gray route of two: 2 red; or 1 yellow and a locomotive; or 2 locomotives"
EXAMPLES: Final = {
    "usa": [
        BLUE_OF_THREE,
        GRAY_OF_TWO,
        "Montréal - New York (blue, 3) takes three blue",
        "Montréal - Toronto (gray, 3) three of whichever colour",
    ],
    "europe": [
        BLUE_OF_THREE,
        GRAY_OF_TWO,
        "| 2 red | red, locomotive, blue | two more cards, each red or a locomotive |",
        "| 2 locomotives | red, locomotive, blue | one more locomotive |",
    ],
    "marklin": [
        BLUE_OF_THREE,
        GRAY_OF_TWO,
        "enters five cities with 2, 3, 3, 3 and 3 on top. That scores 14",
    ],
    "trains": ["3 + 2 x 4 = 11 destinations", "15 + 10 - 10 + 20 = 35"],
}


@pytest.mark.parametrize("ruleset", EXAMPLES)
def test_the_worked_examples_are_on_the_page(ruleset: str) -> None:
    text = " ".join(page(ruleset).split())
    assert [example for example in EXAMPLES[ruleset] if example not in text] == []


@pytest.mark.parametrize("ruleset", WITH_OWN_BOARD)
def test_the_routes_of_the_examples_are_on_the_board(ruleset: str) -> None:
    examples = re.findall(r"(\w+(?: \w+)?) - (\w+(?: \w+)?) \((\w+), (\d)\)", " ".join(page(ruleset).split()))
    assert set(examples) <= set(named_routes(ruleset))


def named_routes(ruleset: str) -> Iterator[tuple[str, str, str, str]]:
    """The routes of a ruleset's board as a page writes them, either way round."""
    board = load_board(TRAIN_RULESETS[ruleset].default_board)
    for route in board.routes.values():
        one, other = board.cities[route.a], board.cities[route.b]
        yield one, other, route.color, str(route.length)
        yield other, one, route.color, str(route.length)
