"""Rules with a part that never returns, once a seat has left before its game begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event
from typing import Final

import pytest

from services.referee.games.found_games import RULESET_VERSIONS, RULESETS
from services.referee.games.state import EventStream, Ruleset
from services.referee.games.trains.rulesets import USA
from services.referee.games.trains.train_state import TrainGame, TrainRuleset

ENDLESS: Final = "endless"
SAFETY_S: Final = 60  # only where the product fails: a test must end


def spin() -> None:
    """Loop for ever, and leave nobody else time."""
    give_up_at_s = time.monotonic() + SAFETY_S
    while time.monotonic() < give_up_at_s:
        pass
    raise AssertionError("nobody interrupted it")


def never_return() -> None:
    """Loop for ever, with less to do."""
    give_up_at_s = time.monotonic() + SAFETY_S
    while time.monotonic() < give_up_at_s:
        time.sleep(0.001)
    raise AssertionError("nobody interrupted it")


def lose_one_interruption() -> None:
    """The same, but the first interruption is lost, as in a finalizer."""
    try:
        never_return()
    except BaseException as error:
        assert not isinstance(error, Exception), error
    never_return()


def never_give_way(reached: Event, released: Event) -> Callable[[], None]:
    """The same until it is released, and it catches what interrupts it: C code lets nothing through either.
    Nothing may interrupt it before it is reached."""

    def wait() -> None:
        while not released.is_set():
            with suppress(BaseException):
                released.wait(0.02)

    def catch_everything() -> None:
        give_up_at_s = time.monotonic() + SAFETY_S
        reached.set()
        while not released.is_set():
            assert time.monotonic() < give_up_at_s, "nobody gave it up"
            with suppress(BaseException):  # of what comes between two waits
                wait()

    return catch_everything


@contextmanager
def playable(ruleset: Ruleset) -> Iterator[None]:
    """Within the block, games can be created by these rules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RULESETS, ruleset.name, ruleset)
        patch.setitem(RULESET_VERSIONS, (ruleset.name, ruleset.version), ruleset)
        yield


def endless(loop: Callable[[], None] = never_return) -> TrainRuleset:
    """The rules of `usa`, but after a seat left before the first turn comes this loop."""

    def after_start_choice(state: TrainGame) -> EventStream:
        if any(seat.exit_reason for seat in state.seats):
            loop()
        yield from USA.parts.after_start_choice(state)

    return replace(USA, name=ENDLESS, parts=replace(USA.parts, after_start_choice=after_start_choice))
