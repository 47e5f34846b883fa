"""The sending side of a command queue that records what it gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schemas.commands import CommandEnvelope


class RecordedCommands:
    """Records the commands that it gets; `failure` may return why one isn't queued."""

    def __init__(self, failure: Callable[[CommandEnvelope], Exception | None] = lambda _: None) -> None:
        self.failure, self.sent = failure, list[CommandEnvelope]()

    def submit_all(self, envelopes: Sequence[CommandEnvelope]) -> list[Exception | None]:
        errors = [self.failure(envelope) for envelope in envelopes]
        self.sent += [envelope for envelope, error in zip(envelopes, errors, strict=True) if error is None]
        return errors

    def games(self) -> list[str]:
        return sorted(envelope.game for envelope in self.sent)
