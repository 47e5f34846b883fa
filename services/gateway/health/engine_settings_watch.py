"""Looks at the engine's settings at the start and every few seconds, and tells which of them break promises.

Games go on meanwhile: what can't be promised any more is refused by level (`LEVEL-1`). With `LEDGERLINE_STRICT_ENGINE`
a gateway doesn't start on such an engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import closing
from time import monotonic
from typing import Final

from services.ledger.engine.connection import EngineUnavailableError, connect
from services.ledger.engine.errors import ENGINE_ERRORS
from services.ledger.operations.engine_settings import (
    EngineCapabilities,
    WaitaofTrial,
    broken_promises,
    probe_nodes,
    unknown_settings,
)
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
CHECK_INTERVAL_S: Final = 3.0
Probe = Callable[[Mapping[str, WaitaofTrial | None]], Mapping[str, EngineCapabilities]]


class UnsoundEngineError(EngineUnavailableError):
    """The engine's settings break promises, or can't be seen, and the gateway is told not to start then."""


class EngineSettingsWatch:
    """Keeps what was found of the engine's nodes. Every problem is logged when it appears and when none is
    left."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self.nodes: dict[str, EngineCapabilities] = {}

    def check(self) -> None:
        """Look once. Raises one of ENGINE_ERRORS, or EngineUnavailableError: no node answers."""
        found = self._probe({name: node.trial for name, node in self.nodes.items()})
        for name, node in found.items():
            self._log_changes(name, self.nodes.get(name, EngineCapabilities()), node)
        self.nodes.update(found)

    def require_sound(self) -> None:
        """Raise UnsoundEngineError if a node's settings break promises, or can't be seen."""
        if problems := self.problems():
            raise UnsoundEngineError(f"LEDGERLINE_STRICT_ENGINE is set, and {'; '.join(problems)}")

    def problems(self) -> list[str]:
        """The settings that break promises, or can't be seen, in sentences; no address is in them."""
        return [*dict.fromkeys(problem for node in self.nodes.values() for problem in _problems(node))]

    async def run(self) -> None:
        """Look every CHECK_INTERVAL_S until cancelled."""
        while True:
            await asyncio.sleep(CHECK_INTERVAL_S)
            try:
                await asyncio.to_thread(self.check)
            except (*ENGINE_ERRORS, EngineUnavailableError):
                continue  # that it is away, others say

    def _log_changes(self, name: str, before: EngineCapabilities, node: EngineCapabilities) -> None:
        fields = {"node": name} if name else {}
        known = _problems(before) if name in self.nodes else []
        problems = _problems(node)
        for problem in problems:
            if problem not in known:
                log.error("the engine's settings break promises", problem=problem, **fields)
        if known and not problems:
            log.warning("the engine's settings break no promise any more", **fields)
        if not problems and node.unavailable_reason not in {"", before.unavailable_reason}:
            log.warning("nobody can be answered at level durable", why=node.unavailable_reason, **fields)
        dropped = node.settings.evicted_keys - (
            before.settings.evicted_keys if before.settings.run_id == node.settings.run_id else 0
        )
        if dropped > 0:
            log.error("the engine dropped keys: games are lost or damaged", keys=dropped, **fields)


def _problems(node: EngineCapabilities) -> list[str]:
    return [*broken_promises(node.settings), *unknown_settings(node.settings)]


def probe_url(url: str, partitions: int) -> Probe:
    """A probe of the engine or the cluster at this address, by a connection of its own."""

    def probe(known: Mapping[str, WaitaofTrial | None]) -> Mapping[str, EngineCapabilities]:
        with closing(connect(url)) as client:
            return probe_nodes(client, partitions, known, monotonic)

    return probe


def watch_engine(url: str, partitions: int, *, strict: bool) -> EngineSettingsWatch:
    """A watch that has looked once. Raises EngineUnavailableError: the engine isn't sound, or shows nothing, and
    `strict` is set."""
    watch = EngineSettingsWatch(probe_url(url, partitions))
    try:
        watch.check()
    except ENGINE_ERRORS as error:  # it went away again
        if strict:
            raise EngineUnavailableError(f"the engine doesn't show its settings: {error}") from None
    if strict:
        watch.require_sound()
    return watch
