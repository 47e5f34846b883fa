"""A packed game is the game that was packed, and games have a budget of memory, on the nastiest board too."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ledger import GameLog
from services.referee.game_cache import (
    MIN_UNPACKED_SHARE,
    CachedGame,
    GameCache,
    SizedGames,
)
from services.referee.games import RULESETS, GameState, fold
from services.referee.games.trains.board import load_board
from services.referee.games.trains.train_state import TrainState
from tests.golden.test_golden import FILES, read
from tests.long_runs import long_after
from tests.rules.given import full_state, parts
from tests.rules.hostile_games import hostile_game
from tests.rules.random_games import RANDOM_GAMES, RandomGame

ENTRIES = 60
REPEATABLE = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


def shared(state: GameState) -> tuple[object, ...]:
    """What games of the same rules and board share."""
    board = (state.own.board,) if isinstance(state.own, TrainState) else ()
    return (state.ruleset, state.rule_options, *board)


class NoLogs:
    """A ledger without a game."""


def contents(state: GameState) -> dict[str, Any]:
    """All of a state, with the order of its dictionaries, which a rule might iterate over."""
    contents = full_state(state)
    return contents | {"order of": [[*held] for held in contents.values() if isinstance(held, dict)]}


def cached(state: GameState, entries: int = ENTRIES) -> CachedGame:
    cached_game = CachedGame()
    cached_game.state, cached_game.length = state, entries
    return cached_game


def unpacked(state: GameState) -> GameState:
    """The state, packed and unpacked."""
    return cached(state).pack().unpack().state


def played(board: str, seats: int, moves: int = ENTRIES, seed: int = 1) -> RandomGame:
    game = RandomGame(Random(seed), board, seats)
    for number in game.steps():
        if number == moves:
            break
    return game


# -- one packed game ---------------------------------------------------------------------


@pytest.mark.parametrize("examples", long_after(1, (3, 12)))
@pytest.mark.parametrize("rules", RULESETS)
def test_P7_an_unpacked_state_is_the_state_folded_anew(rules: str, examples: int) -> None:
    """Whole games go on with the unpacked state, at any moment of a game of any ruleset."""

    @settings(REPEATABLE, max_examples=examples)
    @given(play=RANDOM_GAMES[rules], often=st.sampled_from([1, 7]))
    def check(play: RandomGame, often: int) -> None:
        for number in play.steps():
            if number % often == 0:
                before = play.state
                play.state = unpacked(before)
                assert play.state is not before
                assert all(
                    one is other for one, other in zip(shared(play.state), shared(before), strict=True)
                )
            if number % 25 == 0:
                assert contents(play.state) == contents(fold(play.log))
        assert contents(play.state) == contents(fold(play.log))

    check()


def test_P7_what_happens_to_an_unpacked_state_leaves_the_packed_game_alone() -> None:
    play = played("usa", 4)
    packed, before = cached(play.state).pack(), contents(play.state)
    for _ in range(2):
        play = played("usa", 4)
        play.state = packed.unpack().state
        assert contents(play.state) == before
        next(iter(play.steps()))


def test_P7_every_field_of_a_state_is_packed() -> None:
    """Each field that can be is given a value of its own here; one that is left out would have its first one."""
    state = played("usa", 4).state
    for target, names in parts(state):
        marked(target, names)
    for (target, names), (found, _) in zip(parts(state), parts(unpacked(state)), strict=True):
        for name in names:
            assert getattr(found, name) == getattr(target, name), name


def marked(target: object, names: Sequence[str]) -> None:
    """Give each field that holds a number or a string another one, which no other field has."""
    for index, name in enumerate(names):
        value = getattr(target, name)
        if isinstance(value, str):
            setattr(target, name, f"mark of {name}")
        elif isinstance(value, int) and not isinstance(value, bool):
            setattr(target, name, 1_000 + index)


def test_P7_routes_that_were_opened_again_stand_where_they_stood() -> None:
    state = played("usa", 4).state
    again = next(
        name
        for name in state.own.route_owners
        if len(state.own.open_routes[state.own.board.routes[name].fare])
    )
    state.own.open_routes[state.own.board.routes[again].fare] += (again,)
    assert unpacked(state).own.open_routes == state.own.open_routes


def test_P9_equal_rule_options_are_one_value_for_all_games() -> None:
    logs = (GameLog(read(path).log[:1], b"") for path in FILES)
    log = next(log for log in logs if options_of(log) is not options_of(log))
    cache = GameCache(SimpleNamespace(read_log=lambda game: log))
    one, two = (cache.get(game).state.rule_options for game in ("one", "two"))
    assert one is two
    assert one == options_of(log)


def options_of(log: GameLog) -> object:
    """The options of a game, folded anew."""
    return CachedGame.from_log(log).state.rule_options


# -- what games take ---------------------------------------------------------------------


def reachable(parts: list[Any], known: dict[int, Any]) -> dict[int, Any]:
    """All objects that these refer to, besides those that are known, by id."""
    found: dict[int, Any] = {}
    while parts:
        part = parts.pop()
        if id(part) in found or id(part) in known or isinstance(part, type | ModuleType | FunctionType):
            continue
        found[id(part)] = part
        parts += gc.get_referents(part)
    return found


def taken_bytes(game: CachedGame | GameState) -> int:
    """What the game takes, without what it shares."""
    state = game.state if isinstance(game, CachedGame) else game
    known = reachable([*shared(state)], {})
    return sum(sys.getsizeof(part) for part in reachable([game], known).values())


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.stem.endswith("-mischief")], ids=lambda path: path.stem
)
def test_P9_an_unpacked_game_is_counted_with_about_what_it_takes(path: Path) -> None:
    log = read(path).log
    for entries in (4, len(log) // 2, len(log)):
        folded = CachedGame()
        folded.apply_entries(log[:entries])
        packed = folded.pack()
        taken = taken_bytes(game := packed.unpack())
        assert 0.6 < game.measure().own_bytes / taken < 2.2
        assert taken < 1.02 * taken_bytes(folded)  # less, unless the game has next to nothing of its own
        assert packed.measure().own_bytes < 0.6 * taken


def test_P9_a_game_on_a_hostile_board_is_counted_with_at_least_half_of_what_it_takes() -> None:
    states = [state for seed in range(6) if (state := hostile_game(Random(seed)))]
    assert len(states) > 3
    for state in states:
        games = SizedGames[CachedGame]()
        games.put("game", cached(state, 2))
        assert games.total_bytes > taken_bytes(state) / 2


def test_P9_the_board_of_a_stranger_counts_once_for_all_games_on_it() -> None:
    games, game = SizedGames[CachedGame](), cached(played("usa", 2).state)
    board = load_board("usa")
    game.state.own.board = replace(
        board, form=copy(board.form)
    )  # equal, and not the one that is loaded anyway
    for name in ("one", "two"):
        games.put(name, game)
    assert games.total_bytes - 2 * game.measure().own_bytes > 100_000
    for name in ("one", "two", "never there"):
        games.pop(name)
    assert (games.total_bytes, len(games.games)) == (0, 0)


def test_P9_a_game_that_has_grown_is_measured_again() -> None:
    cache, growing = GameCache(NoLogs()), CachedGame()  # type: ignore[arg-type]  # never read
    cache._insert("game", growing)
    new = cache._unpacked.total_bytes
    growing.state, growing.length = played("iberia", 8).state, ENTRIES
    assert cache.get("game") is growing
    assert cache._unpacked.total_bytes >= growing.measure().own_bytes > new


@pytest.fixture(params=[0, 100_000, 1_000_000, 4_000_000])
def bounded_cache(request: pytest.FixtureRequest) -> Iterator[GameCache]:
    yield GameCache(NoLogs(), request.param)  # type: ignore[arg-type]  # never read


def test_P9_games_never_take_more_than_their_bytes(bounded_cache: GameCache) -> None:
    """The latest game is there, whatever it takes, and an eighth of the room is for unpacked ones."""
    cache, most = bounded_cache, bounded_cache.max_bytes
    states, rng = [played("usa", 4).state, played("iberia", 8).state], Random(2)
    for number in range(300):
        cache._insert(f"game-{number}", cached(states[number % 2].copy()))
        used = f"game-{max(0, number - rng.randrange(40))}"
        if used in cache._unpacked.games or used in cache._packed.games:
            cache.get(used)
        assert cache._unpacked.total_bytes + cache._packed.total_bytes <= max(
            most, cache._unpacked.total_bytes
        )
        assert len(cache._unpacked.games) <= 1 or cache._unpacked.total_bytes <= most
    assert "game-299" in cache._unpacked.games or "game-299" in cache._packed.games
    if most == 4_000_000:
        assert len(cache._packed.games) > 100
        assert cache._unpacked.total_bytes > most / MIN_UNPACKED_SHARE / 2
