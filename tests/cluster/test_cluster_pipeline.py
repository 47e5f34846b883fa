"""What is sent again on a cluster, and what never is: decided on replies alone."""

from __future__ import annotations

from typing import Any

import pytest
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError,
    MovedError,
    ResponseError,
    TimeoutError,
    TryAgainError,
)

from services.ledger.engine.cluster_pipeline import (
    ClusterCommand,
    available_replies,
    collect_replies,
    group_by_node,
    plan_next_round,
)

MOVED = MovedError("12182 there:2")
ASK = AskError("12182 there:2")


def answered(*results: Any, command: str = "XADD") -> list[ClusterCommand]:
    calls = [ClusterCommand((command, "foo"), {}) for _ in results]
    for call, result in zip(calls, results, strict=True):
        call.result = result
    return calls


def sent(*calls: ClusterCommand) -> dict[str, list[object]]:
    found = group_by_node(calls, lambda slot: f"home of {slot}", lambda name: name)
    return {node: [call.args[0] for call in share] for node, share in found.items()}


@pytest.mark.parametrize(
    "lost", [ConnectionError(), TimeoutError(), ClusterDownError("down"), ResponseError("no")]
)
def test_P2_a_command_that_may_have_been_done_is_never_sent_again(lost: Exception) -> None:
    calls = answered(lost)
    assert plan_next_round(calls) == ([], [])
    with pytest.raises(type(lost)):
        collect_replies(calls, raise_on_error=True)


def test_a_command_goes_to_the_node_that_is_named_for_its_slot() -> None:
    calls = answered(b"1-0", MOVED, b"2-0")
    assert plan_next_round(calls) == ([calls[1]], [MOVED])


def test_a_key_that_left_a_moving_slot_is_asked_for_at_the_other_node_once() -> None:
    [call] = answered(ASK)
    assert plan_next_round([call]) == ([call], [])
    assert sent(call) == {"there:2": ["ASKING", "XADD"]}
    call.result = TryAgainError("split")
    plan_next_round([call])
    assert sent(call) == {"home of 12182": ["XADD"]}


def test_P1_a_wait_goes_with_what_it_waits_for() -> None:
    script, wait = answered(MOVED)[0], ClusterCommand(("WAIT", 1, 100), {})
    wait.result = 0
    assert sent(script, wait) == {"home of 12182": ["XADD", "WAIT"]}
    assert plan_next_round([script, wait]) == ([script, wait], [MOVED])


def test_P8_a_node_that_is_away_costs_only_its_own_replies() -> None:
    assert available_replies([[1], ConnectionError(), [2]]) == [[1], (), [2]]
    with pytest.raises(ConnectionError):
        available_replies([ConnectionError(), TimeoutError()])
    with pytest.raises(ResponseError, match="NOGROUP"):
        available_replies([[1], ResponseError("NOGROUP")])


def test_a_slot_without_a_node_delays_no_other() -> None:
    def node_of(slot: int) -> str:
        return {12182: "here"}[slot]

    known, unknown = ClusterCommand(("GET", "foo"), {}), ClusterCommand(("GET", "bar"), {})
    assert group_by_node([unknown, known], node_of, str) == {"here": [known]}
    assert available_replies([[1], unknown.result]) == [[1], ()]
