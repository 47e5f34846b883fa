"""A folder of cases: each is read, answered by our own core, compared with the expected answer, and counted by kind.

`index.json` names two files for each case: the input, which is a row of JSON values, and the expected answer, one
value. A folder without it has them as KIND/NAME-in.json and KIND/NAME-out.json. A case that isn't answered, within
CASE_S, is counted, and the next one is answered.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar

from pydantic import Field
from rich.console import Console
from rich.progress import track
from rich.table import Table

from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import Text
from schemas.refusals import CommandRefusedError
from schemas.trains.boards.trains import read_trains_map
from schemas.trains.commands import ClaimRoute, RequestCards
from services.bots.seat_random import SeatRandom
from services.bots.trains.trains_strategies import hold_10
from services.documents import read_text
from services.referee.games import legal
from services.referee.games.trains.board import build_board, with_pair_tickets
from services.text.formatting import in_one_line
from services.tournament.knock_out import GameOutcome, Groups, run_knock_out
from services.trains.given_cards import NO_SEED, PLAYERS, TooFewDestinationsError, choose_map, play_game
from services.trains.player_state import (
    CONNECTION,
    MAX_SEATS,
    STATE,
    Colour,
    build_game_state,
    command_json,
    may_acquire,
    parse_connection,
)

TOO_FEW_DESTINATIONS: Final = "error: not enough destinations"

T = TypeVar("T")
CaseSolver: TypeAlias = Callable[[Sequence[object]], object]  # JSON values in, a JSON value out
NamedPlayer: TypeAlias = tuple[str, str]
Deck = Annotated[tuple[Colour, ...], Field(max_length=250)]
_Player = tuple[Annotated[Text, Field(pattern="^[A-Za-z]{1,50}$")], Literal["Hold-10", "Buy-Now", "Cheat"]]

DECK: Final[Schema[tuple[str, ...]]] = Schema(Deck, "cards")


def _players_schema(max_players: int) -> Schema[tuple[NamedPlayer, ...]]:
    return Schema(Annotated[tuple[_Player, ...], Field(min_length=2, max_length=max_players)], "players")


GAME_PLAYERS: Final = _players_schema(MAX_SEATS)
TOURNAMENT_PLAYERS: Final = _players_schema(50)


def answer_reachability(values: Sequence[object]) -> bool:
    """Whether a path of connections joins two cities."""
    start, end, map_json = require_values(values, "city, city, map")
    form = read_trains_map(map_json)
    ids = {city.name: city.id for city in form.cities}
    ends = frozenset(_city_id(ids, city) for city in (start, end))
    pairs = {frozenset((pair.a, pair.b)) for pair in with_pair_tickets(build_board(form), 1).tickets.values()}
    return ends in pairs


def _city_id(ids: Mapping[str, str], city: object) -> str:
    if not isinstance(city, str) or city not in ids:
        raise InvalidInputError("city", f"the map has no city {city!r}")
    return ids[city]


def answer_legality(values: Sequence[object]) -> bool:
    """Whether the player may acquire a connection."""
    map_json, player_state, wanted = require_values(values, "map, player state, connection")
    game_state = build_game_state(read_trains_map(map_json), read_value(STATE, player_state))
    return may_acquire(game_state, parse_connection(read_value(CONNECTION, wanted)))


def answer_strategy(values: Sequence[object]) -> str | list[str | int]:
    """The answer of Hold-10 at its turn, as JSON."""
    map_json, player_state = require_values(values, "map, player state")
    game_state = build_game_state(read_trains_map(map_json), read_value(STATE, player_state))
    command = hold_10(game_state, 0, legal(game_state, 0), SeatRandom(NO_SEED, 0))
    assert isinstance(command, ClaimRoute | RequestCards), "a turn has no other commands"
    return command_json(command, game_state.own.board)


def answer_game(values: Sequence[object]) -> str | list[object]:
    """The result of a game with given cards: the names of each rank, and of the removed players."""
    map_json, players_json, cards_json = require_values(values, "map, players, cards")
    form = read_trains_map(map_json)
    players, cards = read_value(GAME_PLAYERS, players_json), read_value(DECK, cards_json)
    try:
        outcome = play_game(form, [PLAYERS[kind] for _, kind in players], cards)
    except TooFewDestinationsError:
        return TOO_FEW_DESTINATIONS
    return [[_sorted_names(players, rank) for rank in outcome.ranks], _sorted_names(players, outcome.removed)]


def answer_tournament(values: Sequence[object]) -> str | list[list[str]]:
    """The result of a tournament whose games all have the same cards: the winners, and the removed players."""
    map_json, players_json, cards_json = require_values(values, "map, players, cards")
    form = read_trains_map(map_json)
    players, cards = read_value(TOURNAMENT_PLAYERS, players_json), read_value(DECK, cards_json)

    def play_round(groups: Groups) -> list[GameOutcome]:
        return [play_game(form, [PLAYERS[players[index][1]] for index in group], cards) for group in groups]

    try:
        choose_map([form], len(players), cards)
        result = run_knock_out(len(players), play_round)
    except TooFewDestinationsError:
        return TOO_FEW_DESTINATIONS
    return [_sorted_names(players, result.winners), _sorted_names(players, result.removed)]


def answer_case(solver: CaseSolver, values: Sequence[object]) -> object:
    """Our answer to a case's input, both as JSON values. Raises InvalidInputError, naming the bad value."""
    try:
        return solver(values)
    except CommandRefusedError as refusal:
        raise InvalidInputError("", f"there can be no such game: {refusal.reason}") from None


def require_values(values: Sequence[object], names: str) -> Sequence[object]:
    """The values, as many as `names` has (separated by commas). Raises InvalidInputError."""
    count = len(names.split(", "))
    if len(values) != count:
        raise InvalidInputError("", f"must hold {count} JSON values ({names}), not {len(values)}")
    return values


def read_value(schema: Schema[T], value: object) -> T:
    """The value read by this schema. Raises InvalidInputError, naming the value and its bad field."""
    try:
        return schema.read(value)
    except InvalidInputError as error:
        field = schema.name if error.field == schema.name else f"{schema.name}.{error.field}"
        raise InvalidInputError(field, error.reason) from None


def _sorted_names(players: Sequence[NamedPlayer], indices: Sequence[int]) -> list[str]:
    return sorted(players[index][0] for index in indices)


KINDS: Final[Mapping[str, CaseSolver]] = {
    "3-xmap": answer_reachability,
    "5-xlegal": answer_legality,
    "6-xstrategy": answer_strategy,
    "8-xref": answer_game,
    "9-xmanager": answer_tournament,
}


CASE_S: Final = 60.0  # for one answer: the largest tournament takes 8 s on a busy machine


class Failure(NamedTuple):
    """A case whose answer isn't the expected one; both as JSON values."""

    id: str
    expected: object
    answer: object


class UnansweredCase(NamedTuple):
    """A case of a wrong form, of a game that can't be played, or that took too long; `why` names file and entry."""

    id: str
    why: str


Shortfall: TypeAlias = Failure | UnansweredCase  # why a case has not passed


class Tally(NamedTuple):
    """The results of the cases of one kind."""

    kind: str
    cases: int
    failures: tuple[Failure, ...]
    unanswered: tuple[UnansweredCase, ...]
    played: bool  # whether we can answer this kind

    @property
    def passed(self) -> int:
        """How many answers are the expected ones."""
        return self.cases - len(self.failures) - len(self.unanswered) if self.played else 0


def run_folder(folder: Path, quiet: bool, kinds: Mapping[str, CaseSolver] = KINDS) -> list[Tally]:
    """Answer every case of these kinds in a folder, with a progress bar on a terminal unless `quiet`.

    Raises InvalidInputError for a bad index, naming the entry."""
    cases = read_cases(folder)
    console = Console(stderr=True)
    bar = track(cases, "playing", console=console, transient=True, disable=quiet or not console.is_terminal)
    shortfalls = [shortfall for case in bar if (shortfall := check_case(case, kinds))]
    return tally_by_kind(cases, shortfalls, kinds)


def check_case(
    case: Case, kinds: Mapping[str, CaseSolver] = KINDS, limit_s: float = CASE_S
) -> Shortfall | None:
    """Why a case has not passed; None if our answer is the expected one, or its kind is none of these. On the main
    thread, whose alarm ends an answer that takes too long."""
    solver = kinds.get(case.kind)
    if solver is None:
        return None
    try:
        values, expected = case.read()
    except InvalidInputError as error:
        return UnansweredCase(case.id, str(error))
    try:
        with _alarm(limit_s):
            actual = answer_case(solver, values)
    except InvalidInputError as error:
        return UnansweredCase(case.id, f"{case.input_path}: {error}")
    except _Interruption:
        return UnansweredCase(case.id, f"{case.input_path}: there is no answer after {limit_s:g} s")
    except Exception as error:  # a bug of ours is this row, and not the end of all
        return UnansweredCase(case.id, f"{case.input_path}: answering it failed: {error!r}")
    return None if actual == expected else Failure(case.id, expected, actual)


class _Interruption(BaseException):
    """The time of a case is over; nothing that answers it may catch this."""


@contextmanager
def _alarm(limit_s: float) -> Iterator[None]:
    """Raise _Interruption in the block after so many seconds, and each second from then on: a task may end by one alone."""

    def end(*_: object) -> NoReturn:
        raise _Interruption

    handler, timer = signal.signal(signal.SIGALRM, end), signal.setitimer(signal.ITIMER_REAL, limit_s, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def tally_by_kind(
    cases: Iterable[Case], shortfalls: Iterable[Shortfall], kinds: Mapping[str, CaseSolver] = KINDS
) -> list[Tally]:
    """One tally for each kind, in the order of the numbers that the kinds begin with."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.kind] = counts.get(case.kind, 0) + 1
    by_kind: dict[str, list[Shortfall]] = {kind: [] for kind in counts}
    for shortfall in shortfalls:
        by_kind[shortfall.id.partition("/")[0]].append(shortfall)
    return [
        Tally(
            kind=kind,
            cases=counts[kind],
            failures=tuple(each for each in by_kind[kind] if isinstance(each, Failure)),
            unanswered=tuple(each for each in by_kind[kind] if isinstance(each, UnansweredCase)),
            played=kind in kinds,
        )
        for kind in sorted(counts, key=_kind_order)
    ]


def _kind_order(kind: str) -> tuple[int, str]:
    digits = kind.partition("-")[0]
    return (int(digits) if digits.isdecimal() and len(digits) < 10 else 0, kind)


def tally_table(tallies: Iterable[Tally]) -> Table:
    """The tallies as a table for a terminal."""
    table = Table("kind", "cases", "passed", "failed", "unanswered", "which failed")
    for tally in tallies:
        if tally.played:
            counts = (tally.passed, len(tally.failures), len(tally.unanswered))
            row = (*map(str, counts), ", ".join(failure.id.partition("/")[2] for failure in tally.failures))
        else:
            row = ("-", "-", "-", "not played")
        table.add_row(tally.kind, str(tally.cases), *row)
    return table


def unanswered_lines(tallies: Iterable[Tally]) -> Iterator[str]:
    """A line for each case that isn't answered: its id, and why."""
    for tally in tallies:
        for case in tally.unanswered:
            yield in_one_line(f"{case.id} isn't answered: {case.why}")


def tally_json(tallies: Iterable[Tally]) -> dict[str, object]:
    """The tallies as JSON, with answer and expected answer of the failed cases, and why others aren't answered."""
    return {
        "kinds": [
            {
                "kind": tally.kind,
                "cases": tally.cases,
                "played": tally.played,
                "passed": tally.passed,
                "failed": [failure._asdict() for failure in tally.failures],
                "unanswered": [case._asdict() for case in tally.unanswered],
            }
            for tally in tallies
        ]
    }


# -- the files of a folder ------------------------------------------------------------------

INDEX_FILE: Final = "index.json"
INPUT_SUFFIX: Final = "-in.json"
MAX_BYTES: Final = 20_000_000


class Case(NamedTuple):
    """A case of a folder, whose files are not read yet."""

    id: str
    kind: str  # the part of its id before the first slash
    input_path: Path
    expected_path: Path
    folder: Path

    def read(self) -> tuple[list[object], object]:
        """The values of its input, and the expected answer. Raises InvalidInputError, naming the file."""
        for path in (self.input_path, self.expected_path):
            _require_file_inside(self.folder, path)
        values, expected = read_values(self.input_path), read_values(self.expected_path)
        if len(expected) != 1:
            raise InvalidInputError(str(self.expected_path), f"must hold one JSON value, not {len(expected)}")
        return values, expected[0]


def read_cases(folder: Path) -> list[Case]:
    """The cases of a folder in the order of its index, or else of their names. Raises InvalidInputError, naming the entry."""
    index = folder / INDEX_FILE
    if not index.exists() and (input_paths := sorted(folder.glob(f"*/*{INPUT_SUFFIX}"))):
        return [_case_of_file(folder, input_path) for input_path in input_paths]
    match read_values(index):
        case [[*entries]]:
            return [_parse_case(folder, entry, f"{index}: {number}") for number, entry in enumerate(entries)]
    raise InvalidInputError(str(index), "must hold one JSON list of cases")


def _case_of_file(folder: Path, input_path: Path) -> Case:
    kind, name = input_path.parent.name, input_path.name.removesuffix(INPUT_SUFFIX)
    return Case(f"{kind}/{name}", kind, input_path, input_path.with_name(f"{name}-out.json"), folder)


def _parse_case(folder: Path, entry: object, where: str) -> Case:
    match entry:
        case {"id": str(name), "in": str(input_name), "out": str(expected_name)}:
            kind, _, rest = name.partition("/")
            if not kind or not rest:
                raise InvalidInputError(f"{where}.id", f"must be a kind, a slash and a name, not {name!r}")
            return Case(
                name,
                kind,
                _resolve_inside(folder, input_name, f"{where}.in"),
                _resolve_inside(folder, expected_name, f"{where}.out"),
                folder,
            )
    raise InvalidInputError(where, "must be an object with the texts id, in and out")


def _resolve_inside(folder: Path, path: str, where: str) -> Path:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise InvalidInputError(where, f"must be a path inside the folder, not {path!r}")
    return folder / pure


def _require_file_inside(folder: Path, path: Path) -> None:
    """Raise InvalidInputError for a link out of the folder, as a stranger may have packed, and for a pipe or a device."""
    try:
        target = path.resolve(strict=True)
        is_inside, is_file = target.is_relative_to(folder.resolve()), target.is_file()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a link to itself
        raise InvalidInputError(str(path), f"can't be read: {error.args[-1]}") from None
    if not is_inside:
        raise InvalidInputError(str(path), "is a link that leads out of the folder")
    if not is_file:
        raise InvalidInputError(str(path), "isn't a file")


def read_values(path: Path) -> list[object]:
    """The JSON values of a file, in their order. Raises InvalidInputError, naming the file."""
    try:
        return list(iter_json_values(read_text(path, MAX_BYTES)))
    except InvalidInputError as error:
        raise InvalidInputError(str(path), error.reason, error.rule) from None
    except json.JSONDecodeError as error:
        reason = f"isn't JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        raise InvalidInputError(str(path), reason) from None
    except ValueError:  # the only other one that json raises
        raise InvalidInputError(str(path), "holds a number of thousands of digits") from None
    except RecursionError:
        raise InvalidInputError(str(path), "is nested without end") from None


def iter_json_values(text: str) -> Iterator[object]:
    """The JSON values of a text, with any white space or none between them. Raises JSONDecodeError."""
    decoder, position = json.JSONDecoder(), 0
    while True:
        while text[position : position + 1].isspace():
            position += 1
        if position == len(text):
            return
        value, position = decoder.raw_decode(text, position)
        yield value
