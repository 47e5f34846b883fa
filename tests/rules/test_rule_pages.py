"""docs/reference/rules: a page for every ruleset, with each of its rules once and the right numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from schemas.refusals import GAME_RULES
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA, TRAIN_RULES, RuleOptions
from services.referee.games.trains.board import board_names, load_board
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.rulebook import SHARED, read_pages

PAGES = Path(__file__).parents[2] / "docs" / "reference" / "rules"


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
    return read_pages()[ruleset]


# -- which rules ---------------------------------------------------------------------


def test_every_ruleset_has_a_page_and_there_is_no_other_page() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} - {SHARED} == set(RULES_ON_PAGE) >= set(TRAIN_RULESETS)


def test_what_is_shared_is_said_once_and_named_by_two_pages_or_more() -> None:
    shared = (PAGES / f"{SHARED}.md").read_text()
    written = [(PAGES / f"{ruleset}.md").read_text() for ruleset in RULES_ON_PAGE]
    for rule in re.findall(r"^- \*\*([A-Z]+-\d)\*\*", shared, re.MULTILINE):
        named = [text for text in written if re.search(rf"\(shared\.md#rules\): [^\n]*\b{rule}\b", text)]
        assert len(named) >= 2, rule
    for rulesets in re.findall(r"^- \*\*[^*]+\*\* \([^;)]+; ([^)]+)\)", shared, re.MULTILINE):
        assert len(set(rulesets.split(", ")) & set(RULES_ON_PAGE)) >= 2, rulesets
    assert all("shared.md" not in page(ruleset) for ruleset in RULES_ON_PAGE)


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


# -- the numbers ---------------------------------------------------------------------


DAY_MS: Final = 86_400_000
FEW: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
NAMES: Final = {LOCOMOTIVE: "locomotives", PLUS_FOUR: '"+4" locomotives', PASSENGER: "passenger cards"}


def seats_and_pieces(options: RuleOptions) -> Iterator[str]:
    yield f"For {FEW[options.seats_least]} to {FEW[options.seats_most]} seats:"
    yield "the oldest first" if options.order == "age" else "the first seat begins"
    yield f"{options.cars} train cars of each seat"
    yield f"gets {FEW[options.hand]} cards"
    if options.station_costs:
        costs = [FEW[cost] for cost in options.station_costs]
        yield f"You build at most {FEW[len(costs)]}"
        yield "first station costs {} card, the second {}, the third {}".format(*costs)
        yield f"station that you haven't built is worth {options.station_points} points"
        yield f"the top {FEW[options.tunnel_cards]} cards of the deck are turned up"
    if options.passengers:
        yield f"one of your {FEW[options.passengers]} passengers"


def deck(options: RuleOptions) -> Iterator[str]:
    colours = {kind: count for kind, count in options.cards.items() if kind in COLORS}
    yield f"The deck: {sum(options.cards.values())} cards"
    if len(set(colours.values())) == 1:
        yield f"{next(iter(colours.values()))} in each of {FEW[len(colours)]} colours"
    else:
        yield ", ".join(f"{count} {kind}" for kind, count in colours.items())
    yield from (f"{options.cards[kind]} {name}" for kind, name in NAMES.items() if options.cards.get(kind))
    if options.market:
        yield f"all {FEW[options.market]} cards are discarded"
        yield "When " + ", or ".join(f"{FEW[count]} {NAMES[kind]}" for kind, count in options.flush.items())
    if options.cards.get(PLUS_FOUR):
        yield f"on routes of {FEW[options.plus_four_least]} spaces or more"


def tickets(options: RuleOptions) -> Iterator[str]:
    decks = sorted(options.start_tickets.items())
    if options.start_named:
        yield f"tickets it wants, {FEW[options.start_named]} in all"
    elif len(decks) == 1:
        yield f"Each seat is offered {FEW[decks[0][1]]} tickets"
    else:
        yield f"Each seat is offered {' and '.join(f'{FEW[count]} {deck}' for deck, count in decks)} tickets"
    exactly = options.start_keep == options.start_keep_most
    yield f"keeps {'exactly' if exactly else 'at least'} {FEW[options.start_keep]}"
    if options.draw_tickets:
        yield f"You are offered {FEW[options.draw_named or sum(options.draw_tickets.values())]} "
        yield f"keep at least {FEW[options.draw_keep]}"


def points_and_time(options: RuleOptions) -> Iterator[str]:
    if options.longest_bonus:
        yield f"It earns {options.longest_bonus} points"
    if options.most_tickets_bonus:
        yield f"made most tickets gets {options.most_tickets_bonus} points"
    if options.pair_tickets:
        yield f"then you get {options.pair_tickets} points"
    if all(points == spaces for spaces, points in enumerate(options.route_points, 1)):
        yield "Each space of your connections is a point"
    yield "If the creation sets clocks"
    if options.clock_ms:
        yield f"{options.clock_ms // 1000} seconds for the whole game"
    if options.move_ms:
        yield f"within {FEW[options.move_ms // DAY_MS]} days"


def plain_words(text: str) -> str:
    """In one line, without stress, and without the words that `trains` has of its own."""
    text = " ".join(text.replace("**", "").split())
    for own, plain in {"rails": "train cars", "destinations": "tickets"}.items():
        text = text.replace(own, plain)
    return text


@pytest.mark.parametrize("part", [seats_and_pieces, deck, tickets, points_and_time])
@pytest.mark.parametrize("ruleset", TRAIN_RULESETS)
def test_the_numbers_on_a_page_are_the_rulesets(
    ruleset: str, part: Callable[[RuleOptions], Iterator[str]]
) -> None:
    text = plain_words(page(ruleset))
    assert [words for words in part(TRAIN_RULESETS[ruleset].rule_options) if words not in text] == []


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
