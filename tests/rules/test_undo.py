"""A seat takes its last move back: UNDO-1 and UNDO-2, in every game."""

from __future__ import annotations

from random import Random
from typing import Any

from schemas.commands import (
    AnswerUndo,
    AskUndo,
)
from schemas.contract import EVENT_REGISTRY
from schemas.events import (
    MoveUndone,
    TurnStarted,
    UndoAnswered,
    UndoAsked,
)
from schemas.game_options import Access
from schemas.trains.commands import ClaimRoute, DrawBlind
from schemas.trains.events import RouteClaimed
from services.referee.game_cache import CachedGame
from services.referee.games import GameState, fold, undo
from services.referee.games.appliers import MOVER
from tests.rules.given import NEW_YORK, Scene, full_state, given
from tests.rules.random_games import RandomGame, random_board
from tests.rules.test_properties import EVERY_RULESET

CLAIM = ClaimRoute(NEW_YORK, {"blue": 3})
HANDS = ({"blue": 5}, {"red": 4}, {"green": 4})


def table(undo: Any = "consent", seats: int = 3, people: int = 3) -> Scene:
    """A game of three whose seat 0 can claim Montreal - New York; the first `people` are no bots."""
    scene = given(seats, hands=HANDS)
    scene.state.access = Access(undo=undo)
    for seat, seat_state in enumerate(scene.state.seats):
        seat_state.policy = None if seat < people else "random"
    return scene


def without_time(state: GameState) -> dict[str, Any]:
    """All of a state but the time, and what the next move can be taken back to."""
    fields = full_state(state)
    for name in ("at_ms", "undo", "undone_count", "refusal_counts"):
        del fields[name]
    return fields


def test_UNDO_1_a_move_is_taken_back_once_all_other_people_agree() -> None:
    scene = table()
    before = without_time(scene.state)
    scene.when(0, CLAIM).then_types(RouteClaimed, TurnStarted)
    scene.after_ms(5_000).when(0, AskUndo()).then(UndoAsked(0))
    scene.when(2, AnswerUndo(True)).then(UndoAnswered(2, True))
    scene.when(1, AnswerUndo(True)).then(UndoAnswered(1, True), MoveUndone(0))
    after = without_time(scene.state)
    assert (scene.state.turn, scene.state.undo) == (0, None)
    for seat, (now, then) in enumerate(zip(after.pop("seats"), before.pop("seats"), strict=True)):
        waited = 5_000 if seat == 0 else 0
        assert {**now, "deadline_ms": 0} == {**then, "deadline_ms": 0}
        assert now["deadline_ms"] == (then["deadline_ms"] and then["deadline_ms"] + waited)
    assert after == before


def test_UNDO_1_a_table_may_allow_it_without_asking_and_bots_are_not_asked() -> None:
    table("free").when(0, CLAIM, AskUndo()).then(UndoAsked(0), MoveUndone(0))
    table("consent", people=1).when(0, CLAIM, AskUndo()).then(UndoAsked(0), MoveUndone(0))


def test_UNDO_1_who_disagrees_lets_the_move_stand() -> None:
    scene = table().when(0, CLAIM, AskUndo())
    scene.when(1, AnswerUndo(False)).then(UndoAnswered(1, False))
    assert NEW_YORK in scene.state.own.route_owners
    scene.when(2, AnswerUndo(True)).refused("UNDO-2")
    scene.when(0, AskUndo()).refused("UNDO-1")


def test_UNDO_1_nothing_is_taken_back_that_showed_something_or_that_others_acted_after() -> None:
    table("never").when(0, CLAIM, AskUndo()).refused("UNDO-1")
    table().when(0, DrawBlind(), AskUndo()).refused("UNDO-1")
    table().when(0, CLAIM).when(1, AskUndo()).refused("UNDO-1")
    table().when(0, CLAIM).when(1, DrawBlind()).when(0, AskUndo()).refused("UNDO-1")
    table().when(0, CLAIM, AskUndo(), AskUndo()).refused("UNDO-1")
    table().when(0, AskUndo()).refused("UNDO-1")


def test_UNDO_1_whoever_acts_instead_of_answering_ends_the_question() -> None:
    scene = table().when(0, CLAIM, AskUndo()).when(1, DrawBlind())
    scene.when(2, AnswerUndo(True)).refused("UNDO-2")


def test_UNDO_1_a_refused_command_in_between_changes_nothing() -> None:
    scene = table().when(0, CLAIM)
    scene.when(2, DrawBlind()).refused("TURN-1")
    scene.when(0, AskUndo()).then(UndoAsked(0))


def test_UNDO_1_so_many_moves_are_taken_back_and_no_more() -> None:
    """Else one seat makes the log grow, and its time stand still, for ever."""
    scene = table("free")
    for _ in range(undo.MOST_UNDONE):
        scene.when(0, CLAIM, AskUndo()).then(UndoAsked(0), MoveUndone(0))
    scene.when(0, CLAIM, AskUndo()).refused("UNDO-1")


def test_UNDO_2_only_who_was_asked_answers_and_once() -> None:
    scene = table().when(0, CLAIM)
    scene.when(1, AnswerUndo(True)).refused("UNDO-2")
    scene.when(0, AskUndo())
    scene.when(0, AnswerUndo(True)).refused("UNDO-2")
    scene.when(1, AnswerUndo(True), AnswerUndo(True)).refused("UNDO-2")


def test_UNDO_1_what_can_be_taken_back_moves_no_hidden_pile() -> None:
    """So the proof of the deal knows nothing of it."""
    for cls in EVENT_REGISTRY.classes:
        if cls.in_move != "ends":
            assert not cls.draws
            assert cls.in_move != "begins" or MOVER in EVENT_REGISTRY.fields[cls]
            assert cls.piles is None, cls.__name__


@EVERY_RULESET
def test_UNDO_1_in_every_view_all_is_as_before_and_the_log_folds_to_the_same(rules: str) -> None:
    rng = Random(f"undo-{rules}")
    board, seats, create_fields = random_board(rng, rules)
    play = RandomGame(rng, board, seats, create_fields={**create_fields, "undo": "free"})
    undone = 0
    while not play.state.result:
        seat, command = play.next_command()
        before = {viewer: without_time(view) for viewer, view in play.views.items()}
        referee, entries = without_time(play.state), len(play.log)
        play.process(seat, command)
        undo = play.state.undo
        if seat is None or undo is None or len(play.log) == entries or rng.random() < 0.5:
            continue
        play.process(seat, AskUndo())
        undone += 1
        assert without_time(play.state) == referee
        assert {viewer: without_time(view) for viewer, view in play.views.items()} == before
    assert undone >= 5
    assert full_state(fold(play.log)) == full_state(play.state)
    cached = CachedGame()
    cached.apply_entries(play.log[:-1])
    assert full_state(cached.pack().unpack().state) == full_state(fold(play.log[:-1]))
