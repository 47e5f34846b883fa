"""Notices that no member of a kind of service gives a sign any more."""

from __future__ import annotations

from typing import Final, NamedTuple

from services.ledger.operations.service_kinds import SILENT_S, Heartbeats, ServiceKind
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MAX_LOOK_S: Final = 2.0  # between two looks; what is longer, gateway or engine stood still


class LastSign(NamedTuple):
    """A heartbeat, and when this gateway saw it first, in seconds that it has watched."""

    heartbeat_ms: float
    seen_s: float


class MemberWatch:
    """Logs a line when a kind of service begins to be missing, and one when it is over. Only time in which this gateway
    could look counts: one that stood still itself, or whose engine did, misses nobody."""

    def __init__(self, kind: ServiceKind, now_s: float) -> None:
        self.kind = kind
        self.last_signs: dict[str, LastSign] = {}
        self.tasks = 0  # that wait for such a service
        self.is_hidden = self.is_missing = False
        self._looked_s, self._watched_s, self._last_seen_s = now_s, 0.0, 0.0

    def update(self, heartbeats: Heartbeats, now_s: float, tasks: int = 0) -> None:
        """Take the members as they were read now, and how many tasks wait for them. Where their key holds another type,
        some may be there that nobody sees. One without any other keeps its place there when it dies."""
        self._watched_s += min(now_s - self._looked_s, MAX_LOOK_S)
        self._looked_s, self.tasks = now_s, tasks
        if self.is_hidden != (heartbeats is None):
            self.is_hidden = not self.is_hidden
            if self.is_hidden:
                event = f"key holds another type: {self.kind.label}s can't be seen"
                log.error(event, key=self.kind.members_key)
        if heartbeats is None:
            self.last_signs, self._last_seen_s = {}, self._watched_s
        else:
            self.last_signs = {name: self._sign(name, each) for name, each in heartbeats.items()}
        self._note_absence()

    @property
    def silence_s(self) -> float:
        """How long ago the last sign of any member was."""
        return self._watched_s - self._last_seen_s

    @property
    def is_silent(self) -> bool:
        """Whether no member gives a sign any more."""
        return self.silence_s >= SILENT_S

    def problem(self) -> str:
        """What is wrong and what to do, in a sentence; '' where nothing is."""
        if self.is_hidden:
            return f"{self.kind.label}s can't be seen: the key {self.kind.members_key} holds another type"
        return self.kind.describe_absence(self.silence_s, self.tasks) if self.is_missing else ""

    def last_signs_s(self) -> dict[str, float]:
        """How long ago each member's last sign was seen, by name."""
        return {name: self._watched_s - sign.seen_s for name, sign in sorted(self.last_signs.items())}

    def _sign(self, name: str, heartbeat_ms: float) -> LastSign:
        known = self.last_signs.get(name)
        if known is not None and known.heartbeat_ms == heartbeat_ms:
            return known
        self._last_seen_s = self._watched_s
        return LastSign(heartbeat_ms, self._watched_s)

    def _note_absence(self) -> None:
        is_missed = self.kind.is_missed(was_there=bool(self.last_signs), tasks=self.tasks)
        if self.is_missing == (self.is_silent and is_missed):
            return
        self.is_missing = not self.is_missing
        if self.is_missing:
            fields = {"last_sign_s": round(self.silence_s, 1), "tasks": self.tasks}
            log.warning(f"no {self.kind.label}: {self.kind.waiting}", **fields)
        elif self.is_silent:
            log.warning(f"nothing waits for a {self.kind.label} any more")
        else:
            log.warning(f"{self.kind.label}s are back", names=sorted(self.last_signs))
