"""P1: an engine's word that an entry is on its disk is tried, and `durable` refused where it isn't to be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import ResponseError

from services.ledger.acknowledgements import DURABLE, ConfirmationConnection
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.engine.queries import RedisCommand, run_rounds
from services.ledger.operations.engine_settings import (
    TRIAL_TIMEOUT_MS,
    EngineCapabilities,
    WaitaofTrial,
    probe_engine,
)
from tests.gateway.confirmation import GAME, KINDS, EngineHarness, run_with_engine, without_waitaof

MARK = "{p00}:confirmation-mark"
REFUSED = ResponseError("NOPERM")
KEEPS = (b"no-appendfsync-on-rewrite", b"no", b"maxmemory", b"100", b"maxmemory-policy", b"noeviction")
DROPS = (*KEEPS[:-1], b"allkeys-lru")


class ScriptedEngine:
    """What an engine replies to a probe, on a clock of its own. `waits_s` is how long WAITAOF takes after a write."""

    def __init__(self, waits_s: Callable[[int], float], **settings: Any) -> None:
        self.waits_s, self.now_s, self.trials, self.run_id = waits_s, 100.0, 0, "one"
        self.settings = {"appendonly": "yes", "appendfsync": "everysec", "no-appendfsync-on-rewrite": "no"}
        self.settings |= settings
        self.maxmemory, self.policy, self.refuses = 0, "noeviction", frozenset[str]()

    async def send(self, commands: Sequence[RedisCommand]) -> Sequence[Any]:
        return [self._reply(each.arguments) for each in commands]

    def probe(self, known: WaitaofTrial | None = None) -> EngineCapabilities:
        probing = run_rounds(self.send, probe_engine(MARK, known, lambda: self.now_s))
        try:
            probing.send(None)
        except StopIteration as done:
            found: EngineCapabilities = done.value
            return found
        raise AssertionError("nothing here waits")

    def _reply(self, words: Sequence[object]) -> Any:
        name = str(words[0])
        if name in self.refuses:
            return REFUSED
        if name == "WAITAOF" and words[3] == TRIAL_TIMEOUT_MS:
            wait_s = min(self.waits_s(self.trials), TRIAL_TIMEOUT_MS / 1000)
            self.now_s += wait_s
            self.trials += 1
            return [int(wait_s < TRIAL_TIMEOUT_MS / 1000), 0]
        if name == "INFO":
            lines = [
                f"run_id:{self.run_id}",
                f"maxmemory:{self.maxmemory}",
                f"maxmemory_policy:{self.policy}",
            ]
            return "\r\n".join(lines).encode()
        if name == "CONFIG":
            return [word.encode() for pair in self.settings.items() for word in pair]
        return [1, 0] if name == "WAITAOF" else b"OK"


def test_P1_everysec_is_believed_where_writes_in_a_row_wait_about_a_second() -> None:
    honest = ScriptedEngine(lambda write: 0.3 if write == 0 else 0.98)
    assert honest.probe().unavailable_reason == ""


@pytest.mark.parametrize("early", [1, 2])
def test_P1_everysec_is_not_believed_where_one_of_them_is_answered_early(early: int) -> None:
    lies = ScriptedEngine(lambda write: 0.1 if write == early else 0.98)
    reason = lies.probe().unavailable_reason
    assert "synced everysec, and its WAITAOF doesn't wait for the disk (two in a row took 0.100 s)" in reason
    assert "set appendfsync always" in reason


def test_P1_an_engine_that_never_confirms_is_not_believed() -> None:
    slow = ScriptedEngine(lambda write: 99)
    assert "no answer within 2.5 s" in slow.probe().unavailable_reason


def test_P1_an_engine_that_hides_its_settings_is_believed_only_where_it_waits() -> None:
    honest, unknown = ScriptedEngine(lambda write: 1.0), ScriptedEngine(lambda write: 0.001)
    honest.refuses = unknown.refuses = frozenset({"CONFIG"})
    assert honest.probe().unavailable_reason == ""
    assert "allow CONFIG GET" in unknown.probe().unavailable_reason


def test_P1_an_engine_that_syncs_always_needs_no_trial() -> None:
    always = ScriptedEngine(lambda write: 0.001, appendfsync="always")
    assert always.probe().unavailable_reason == ""
    assert always.trials == 0


def test_P1_always_but_not_while_the_aof_is_rewritten_has_to_be_tried() -> None:
    sometimes = ScriptedEngine(
        lambda write: 0.001, **{"appendfsync": "always", "no-appendfsync-on-rewrite": "yes"}
    )
    assert "not while it is rewritten" in sometimes.probe().unavailable_reason


def test_P1_a_trial_is_good_for_one_run_of_an_engine() -> None:
    engine = ScriptedEngine(lambda write: 1.0)
    trial = engine.probe().trial
    tried = engine.trials
    assert engine.probe(trial).unavailable_reason == ""
    assert engine.trials == tried, "it is believed for as long as it runs on"
    engine.run_id, engine.waits_s = "two", lambda write: 0.001
    assert "doesn't wait for the disk" in engine.probe(trial).unavailable_reason, (
        "tried again after a restart"
    )


def test_P1_a_trial_that_failed_is_made_again() -> None:
    engine = ScriptedEngine(lambda write: 1.0)
    engine.refuses = frozenset({"SET"})
    failed = engine.probe()
    assert "can't be tried (NOPERM)" in failed.unavailable_reason
    engine.refuses = frozenset()
    assert engine.probe(failed.trial).unavailable_reason == ""


def test_P1_nothing_is_durable_where_keys_may_be_dropped() -> None:
    engine = ScriptedEngine(lambda write: 1.0, appendfsync="always")
    engine.maxmemory, engine.policy = 1_000_000, "allkeys-lru"
    assert "drops keys when its memory is full (allkeys-lru)" in engine.probe().unavailable_reason
    engine.policy = "volatile-ttl"
    assert "set maxmemory-policy noeviction" in engine.probe().unavailable_reason
    engine.maxmemory = 0
    assert engine.probe().unavailable_reason == "", "without a limit nothing is dropped"
    engine.refuses = frozenset({"INFO"})
    assert "allow INFO" in engine.probe().unavailable_reason


def test_P1_a_round_proves_durable_only_by_waitaof_and_settings_together() -> None:
    always = ScriptedEngine(lambda write: 0.001, appendfsync="always").probe()
    everysec = ScriptedEngine(lambda write: 1.0).probe()
    synced = {
        name: [b"appendonly", b"yes", b"appendfsync", name, *KEEPS]
        for name in (b"always", b"everysec", b"no")
    }
    for capabilities, believed in ((always, {b"always"}), (everysec, {b"always", b"everysec"})):
        confirming = ConfirmationConnection(None, capabilities)
        for name, config in synced.items():
            assert confirming.is_proved_by(DURABLE, [[1, 0], config]) is (name in believed)
            assert not confirming.is_proved_by(DURABLE, [[0, 0], config])
            assert not confirming.is_proved_by(DURABLE, [[1, 0], REFUSED])
            assert not confirming.is_proved_by(DURABLE, [[1, 0], [*config[:-6], *DROPS]])


@pytest.mark.parametrize(
    ("shown", "is_proved"),
    [
        (b"maxmemory:100\r\nmaxmemory_policy:noeviction", True),
        (b"maxmemory:100\r\nmaxmemory_policy:allkeys-lru", False),
        (b"maxmemory:0\r\nmaxmemory_policy:allkeys-lru", True),
        (b"maxmemory:100", False),
        (REFUSED, False),
    ],
)
def test_P1_an_engine_that_hides_its_settings_shows_behind_each_confirmation_that_it_keeps_all(
    shown: Any, is_proved: bool
) -> None:
    hiding = ScriptedEngine(lambda write: 1.0)
    hiding.refuses = frozenset({"CONFIG"})
    confirming = ConfirmationConnection(None, hiding.probe())
    assert confirming.proof_commands(DURABLE)[1] == ("INFO", "memory")
    assert confirming.is_proved_by(DURABLE, [[1, 0], shown]) is is_proved


# -- the packaged engine ------------------------------------------------------------------------


def test_P1_the_packaged_engine_is_not_believed_with_everysec_and_says_what_to_set(tmp_path: Path) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        reason = await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)
        assert "synced everysec, and its WAITAOF doesn't wait for the disk" in reason
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        await harness.set(appendfsync="always")
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is not None
        await harness.set(appendfsync="everysec")
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None, "each confirmation looks again"
        assert "synced everysec" in await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)

    with running_engine(tmp_path, appendfsync="everysec") as url:
        run_with_engine(url, scenario)


@pytest.mark.parametrize("kind", ["with WAITAOF", *KINDS])
def test_P1_nothing_is_durable_from_the_moment_at_which_the_engine_may_drop_keys(
    tmp_path: Path, kind: str
) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c1", 1)
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is not None
        await harness.set(maxmemory="100mb", maxmemory_policy="allkeys-lru")
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is None
        assert "drops keys" in await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE)
        await harness.set(maxmemory="0")
        assert await harness.ledger.confirmations.unavailable_reason(GAME, DURABLE) == ""
        assert await harness.ledger.confirm(GAME, 0, "c1", DURABLE) is not None

    running = (
        running_engine(tmp_path) if kind == "with WAITAOF" else without_waitaof(tmp_path, kind, "always")
    )
    with running as url:
        run_with_engine(url, scenario)
