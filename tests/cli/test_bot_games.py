"""Games of bots are created by commands straight onto the queue, with what a gateway would check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from schemas.commands import CommandEnvelope, CreateGame
from schemas.errors import InvalidInputError
from schemas.events import CommandRefused, Event
from schemas.stored.entries import ViewEntry
from services.cli.output import CommandLineError
from services.cli.playing import bot_games
from services.cli.playing.bot_games import create_bot_games, require_own_boards, with_seeds
from services.ledger import CommandResult, QueueFullError
from services.runtime.settings import read_settings

DECIDED: Final = CommandResult(1)
BODY: Final = {"ruleset": "usa", "seats": [{"kind": "bot", "policy": "random"}] * 2, "seed": "s"}


class Queue:
    """A command queue that gives these answers to submissions, one for each, and then takes all; what is taken is decided
    after `looks` looks."""

    def __init__(
        self,
        answers: Sequence[Exception] = (),
        looks: int = 1,
        result: CommandResult = DECIDED,
        events: tuple[Event, ...] = (),
    ) -> None:
        self.answers, self.looks, self.result = [*answers], looks, result
        self.sent, self.entry = list[CommandEnvelope](), ViewEntry(1, 0, None, events)

    def submit_all(self, envelopes: Sequence[CommandEnvelope]) -> list[Exception | None]:
        errors = [self.answers.pop(0) if self.answers else None for _ in envelopes]
        self.sent += [each for each, error in zip(envelopes, errors, strict=True) if error is None]
        return errors

    def read_result(self, *_: object) -> CommandResult | None:
        self.looks -= 1
        return None if self.looks > 0 else self.result

    def read_view(self, *_: object) -> list[ViewEntry]:
        return [self.entry]


def create(queue: Any, count: int = 1, failure_reason: Callable[[], str] = lambda: "") -> list[str]:
    return create_bot_games(queue, [*with_seeds(BODY, count)], failure_reason)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_games, "PAUSE_S", 0.0)


def test_P2_a_command_without_a_verdict_is_sent_again_under_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_games, "RESEND_S", 0.0)
    queue = Queue(looks=3)
    [game] = create(queue)
    assert [(each.game, each.id) for each in queue.sent] == [(game, "create")] * 3 + [(game, "start")]


def test_BUSY_1_what_the_queue_does_not_take_now_is_sent_later() -> None:
    queue = Queue([QueueFullError("full")] * 3)
    games = create(queue, 2)
    assert sorted((each.game, each.id) for each in queue.sent) == sorted(
        (game, id_) for game in games for id_ in ("create", "start")
    )


def test_an_engine_that_can_not_write_is_named() -> None:
    with pytest.raises(OSError, match="disk full"):
        create(Queue([OSError("disk full")]))


@pytest.mark.parametrize("queue", [Queue([QueueFullError("full")] * 99), Queue(looks=99)])
def test_a_server_that_failed_is_not_waited_for(queue: Queue) -> None:
    with pytest.raises(CommandLineError, match="a service broke"):
        create(queue, failure_reason=lambda: "a service broke")


def test_games_have_seeds_of_their_own() -> None:
    queue = Queue()
    create(queue, 3)
    creations = [each.command for each in queue.sent if isinstance(each.command, CreateGame)]
    assert [each.seed for each in creations] == ["s", "s/1", "s/2"]


def test_SHAPE_1_a_creation_of_another_form_is_not_sent() -> None:
    queue: Any = Queue()
    with pytest.raises(InvalidInputError, match="SHAPE-1: policy of item 2 of seats: "):
        create_bot_games(queue, [{"seats": [*BODY["seats"][:1], {"kind": "bot", "policy": 7}]}], lambda: "")
    assert not queue.sent


@pytest.mark.parametrize(
    "refused",
    [Queue(result=CommandResult(0, "GAME-5", "no")), Queue(events=(CommandRefused(None, "GAME-5", "no"),))],
)
def test_a_refusal_is_named_whether_it_is_logged_or_not(refused: Queue) -> None:
    with pytest.raises(InvalidInputError, match="GAME-5: no"):
        create(refused)


@pytest.mark.parametrize(
    ("settings", "who"),
    [
        ({"own_boards": "nobody"}, "nobody"),
        ({"own_boards": "operator"}, "only who has LEDGERLINE_OPERATOR_KEY"),
    ],
)
def test_OPERATOR_1_own_boards_are_refused_where_the_settings_say_so(settings: Any, who: str) -> None:
    with pytest.raises(InvalidInputError, match=f"--board: {who}") as refused:
        require_own_boards(read_settings(**settings))
    assert refused.value.rule == "OPERATOR-1"
    require_own_boards(read_settings())
    require_own_boards(read_settings(own_boards="operator", operator_key="k" * 32))
