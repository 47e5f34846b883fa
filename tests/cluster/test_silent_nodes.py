"""P7: a node that doesn't answer is asked nothing until it is heard from, or another has its slots."""

from __future__ import annotations

from redis.exceptions import ConnectionError, TimeoutError

from services.ledger.engine.cluster import REFRESH_S, RETRY_S, SilentNodes
from tests.captured_logs import captured_logs

HANGS, REFUSES = TimeoutError("no answer"), ConnectionError("refused")


class Waiting:
    """A connection on which something comes at last, and what closes it."""

    def __init__(self) -> None:
        self.has_come = self.is_closed = False

    def can_read(self, timeout: float) -> bool:
        assert timeout == 0, "nobody waits for it"
        return self.has_come

    def close(self) -> None:
        self.is_closed = True


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_P7_a_node_that_hangs_is_asked_again_when_it_is_heard_from() -> None:
    clock, waiting = Clock(), Waiting()
    nodes = SilentNodes(clock)
    assert not nodes.is_skipped("one")
    nodes.note_loss("one", HANGS, waiting, waiting.close)
    for _ in range(3):
        assert nodes.is_skipped("one")
        assert not nodes.is_skipped("two")
    waiting.has_come = True
    assert not nodes.is_skipped("one")
    assert waiting.is_closed, "what comes late is read by nobody"


def test_P7_a_node_that_was_never_heard_from_is_asked_again_after_a_while() -> None:
    clock = Clock()
    nodes = SilentNodes(clock)
    nodes.note_loss("one", HANGS)
    clock.now_s = RETRY_S - 0.01
    assert nodes.is_skipped("one")
    clock.now_s = RETRY_S
    assert [nodes.is_skipped("one"), nodes.is_skipped("one")] == [False, True], "once"


def test_P7_a_node_that_refuses_connections_goes_on_being_asked() -> None:
    nodes = SilentNodes(Clock())
    nodes.note_loss("one", REFUSES)
    assert (nodes.is_skipped("one"), nodes.names(), nodes.silent_names()) == (False, {"one"}, set())


def test_P7_a_node_that_is_away_is_logged_once_and_once_when_that_is_over() -> None:
    clock, waiting = Clock(), Waiting()
    nodes = SilentNodes(clock)
    with captured_logs() as lines:
        for _ in range(3):
            nodes.note_loss("one", HANGS, waiting, waiting.close)
            nodes.note_loss("two", REFUSES)
        clock.now_s = 2.5
        for _ in range(3):
            nodes.note_answer("one")
            nodes.keep({"one", "three"})
    assert [(line["event"].split(",")[0], line["node"]) for line in lines] == [
        ("cluster node away", "one"),
        ("cluster node away", "two"),
        ("cluster node back", "one"),
        ("another cluster node took over", "two"),
    ]
    assert [line["away_s"] for line in lines[2:]] == [2.5, 2.5]
    assert waiting.is_closed
    assert nodes.names() == set()


def test_P7_the_map_of_the_slots_is_asked_for_at_once_and_then_now_and_then() -> None:
    clock = Clock()
    nodes = SilentNodes(clock)
    asked = []
    for step in range(10):
        clock.now_s = step * REFRESH_S / 2
        asked.append(nodes.is_refresh_due())
    assert asked == [True, False] * 5
