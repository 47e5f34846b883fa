"""OpenTelemetry spans of commands: one trace for each, from its sender over gateway, queue, referee and append to the
frames of all who follow the game.

The trace's id follows from the command's own (game, seat and id), which travels in the envelope, and then in the sender's
part of the entry. So each process knows it, nothing else has to travel, and whoever has a command's id finds its trace. A
`traceparent` that a request brings is linked. It is on where OTEL_EXPORTER_OTLP_ENDPOINT is set, with the extra `tracing`;
off, each place asks one question.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.errors import InvalidInputError
from schemas.field_types import Seat

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINT_VARIABLE: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
SHARE_VARIABLE: Final = "OTEL_TRACES_SAMPLER_ARG"  # of the commands that are traced
CALLER: Final = ContextVar[str]("caller", default="")  # the traceparent of the request that is served


class SpanIds(NamedTuple):
    """The trace of a command, and the span of its whole way there."""

    trace: int
    root: int


class Spans:
    """Records spans of commands with a provider of OpenTelemetry."""

    def __init__(self, service: str, provider: TracerProvider, forced: list[SpanIds]) -> None:
        self._tracer, self._forced, self.provider = (
            provider.get_tracer(f"ledgerline.{service}"),
            forced,
            provider,
        )

    def record(self, name: str, ids: SpanIds, took_s: float, attributes: dict[str, str | int]) -> None:
        """Record a part of a command's way, which is over now."""
        from opentelemetry.trace import (  # noqa: PLC0415 - an extra
            NonRecordingSpan,
            SpanContext,
            TraceFlags,
            set_span_in_context,
        )

        whole_way = SpanContext(
            ids.trace, ids.root, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED)
        )
        context = set_span_in_context(NonRecordingSpan(whole_way))
        self._tracer.start_span(name, context, attributes=attributes, start_time=_began_ns(took_s)).end()

    def record_whole(self, name: str, ids: SpanIds, took_s: float, attributes: dict[str, str | int]) -> None:
        """Record a command's whole way, which is over now, with a link to who asked for it."""
        from opentelemetry.context import Context  # noqa: PLC0415 - an extra
        from opentelemetry.trace import Link, get_current_span  # noqa: PLC0415 - the same
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - the same
            TraceContextTextMapPropagator,
        )

        brought = TraceContextTextMapPropagator().extract({"traceparent": CALLER.get()}, Context())
        caller = get_current_span(brought).get_span_context()
        self._forced.append(ids)
        self._tracer.start_span(
            name,
            Context(),
            attributes=attributes,
            links=[Link(caller)] if caller.is_valid else (),
            start_time=_began_ns(took_s),
        ).end()


SPANS: Final[
    list[Spans]
] = []  # the process's, where tracing is on; each place asks only whether there are any


def record(name: str, game: str, seat: Seat | None, id_: str, took_s: float, **attributes: str | int) -> None:
    """Record a part of the way of this command that is over now, where tracing is on."""
    for spans in SPANS:
        spans.record(name, span_ids(game, seat, id_), took_s, _attributes(game, id_, attributes))


def record_command(game: str, seat: Seat | None, id_: str, took_s: float) -> None:
    """Record the whole way of this command, from its sending to its verdict, where tracing is on."""
    for spans in SPANS:
        spans.record_whole("command", span_ids(game, seat, id_), took_s, _attributes(game, id_, {}))


def span_ids(game: str, seat: Seat | None, id_: str) -> SpanIds:
    """The ids that belong to a command."""
    digest = sha256(f"ledgerline/trace/1 {game} {seat} {id_}".encode()).digest()
    return SpanIds(int.from_bytes(digest[:16], "big"), int.from_bytes(digest[16:24], "big"))


@contextmanager
def tracing(service: str, use: Callable[[TracerProvider], object] | None = None) -> Iterator[None]:
    """Record spans until the end of the block, where the environment says to where; `use` gets the provider instead of an
    exporter. Raises InvalidInputError: the extra isn't installed, or the share is no number."""
    if use is None and not os.environ.get(ENDPOINT_VARIABLE):
        yield
        return
    spans = _open_spans(service)
    (use or _export)(spans.provider)
    SPANS[:] = [spans]
    try:
        yield
    finally:
        SPANS.clear()
        spans.provider.shutdown()


def _open_spans(service: str) -> Spans:
    try:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - the same
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator  # noqa: PLC0415 - the same
        from opentelemetry.sdk.trace.sampling import TraceIdRatioBased  # noqa: PLC0415 - the same
    except ImportError:
        reason = "is set, but tracing isn't installed: pip install 'ledgerline[tracing]'"
        raise InvalidInputError(ENDPOINT_VARIABLE, reason) from None
    forced: list[SpanIds] = []

    class CommandIds(RandomIdGenerator):
        """Gives the whole way of a command its own ids."""

        def generate_span_id(self) -> int:
            """The id of the span that begins now."""
            return forced.pop().root if forced else super().generate_span_id()

        def generate_trace_id(self) -> int:
            """The id of the trace that begins now; its first span's id is asked for afterwards."""
            return forced[-1].trace if forced else super().generate_trace_id()

    try:
        share = float(os.environ.get(SHARE_VARIABLE) or 1)
        sampler = TraceIdRatioBased(share)  # by the trace's id alone: all services choose the same commands
    except ValueError:
        raise InvalidInputError(SHARE_VARIABLE, "must be a number from 0 to 1") from None
    resource = Resource.create({"service.name": f"ledgerline-{service}"})
    provider = TracerProvider(sampler, resource, id_generator=CommandIds(), shutdown_on_exit=False)
    return Spans(service, provider, forced)


def _export(provider: TracerProvider) -> None:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - the same

    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))


def _attributes(game: str, id_: str, more: dict[str, str | int]) -> dict[str, str | int]:
    return {"ledgerline.command": id_, "ledgerline.game": game, **more}


def _began_ns(took_s: float) -> int:
    return time.time_ns() - max(0, round(took_s * 1e9))
