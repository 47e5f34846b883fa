"""When each referee was last heard of, by what a gateway sees of the membership."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from services.ledger.engine.keys import MEMBERSHIP_KEY
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
SILENT_S: Final = 5.0  # without a sign of any referee: their leases have ended, and nobody took them over
FORGET_S: Final = 600.0  # a name in the membership that is silent for so long


class LastSign(NamedTuple):
    """A heartbeat, and when this gateway saw it first by its own clock."""

    heartbeat_ms: float
    seen_s: float


class RefereeWatch:
    """Notices a time without any referee, and logs a line when it begins and one when it is over."""

    def __init__(self, now_s: float) -> None:
        self.last_signs: dict[str, LastSign] = {}
        self._last_seen_s = now_s
        self._is_silent = self.is_hidden = False

    def update(self, heartbeats: Mapping[str, float] | None, now_s: float) -> None:
        """Take the membership as it was read: None where its key holds another type, and referees may be there that
        nobody sees. A referee without any other keeps its place there when it dies."""
        if self.is_hidden != (heartbeats is None):
            self.is_hidden = not self.is_hidden
            if self.is_hidden:
                log.error("key holds another type: referees can't be seen", key=MEMBERSHIP_KEY)
        if heartbeats is None:
            self.last_signs, self._last_seen_s = {}, now_s
            return
        signs = {}
        for name, heartbeat_ms in heartbeats.items():
            known = self.last_signs.get(name)
            if known is None or known.heartbeat_ms != heartbeat_ms:
                known = LastSign(heartbeat_ms, now_s)
                self._last_seen_s = now_s
            if now_s - known.seen_s < FORGET_S:
                signs[name] = known
        self.last_signs = signs
        if self.is_silent(now_s) != self._is_silent:
            self._is_silent = not self._is_silent
            if self._is_silent:
                log.warning("no referee: commands wait", last_sign_s=round(self.silence_s(now_s), 1))
            else:
                log.warning("referees are back", names=sorted(signs))

    def silence_s(self, now_s: float) -> float:
        """How long ago the last sign of any referee was."""
        return now_s - self._last_seen_s

    def is_silent(self, now_s: float) -> bool:
        """Whether no referee gives a sign any more."""
        return self.silence_s(now_s) >= SILENT_S
