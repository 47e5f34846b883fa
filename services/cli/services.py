"""`ledgerline serve`, and each service alone: `referee`, `bots`, `auditor`, `gateway`."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from io import StringIO
from ipaddress import ip_address
from socket import AF_INET, SOCK_DGRAM, socket
from threading import Event, Thread
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer

from services.bootstrap import composition
from services.cli.options import DEFAULT_DATA, DataOption, set_up_logging
from services.cli.output import CommandLineError
from services.runtime.interpreter_tuning import tune_garbage_collector
from services.runtime.logging_setup import get_logger
from services.runtime.settings import read_settings

app = typer.Typer()
StrictEngineOption = Annotated[
    bool | None,
    typer.Option(
        "--strict-engine/--no-strict-engine",
        help="Don't start on an engine whose settings break promises.",
        show_default="LEDGERLINE_STRICT_ENGINE",
    ),
]
STUCK_EXIT_CODE: Final = 70  # of a referee that a decision holds, or a service that doesn't stop
EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - of this machine: said where it is printed
ELSEWHERE: Final = "192.0.2.1", 9  # an address of nobody (RFC 5737): nothing is sent there
STOP_S: Final = 10.0  # from a signal to the end of a service that waits for an engine that stands still
GATEWAY_STOP_S: Final = 13.0  # its followers leave within 10 s; whoever starts it waits for 15 s


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; left out: all.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    data: DataOption = DEFAULT_DATA,
    strict_engine: StrictEngineOption = None,
) -> None:
    """Run everything on this machine, at the address it prints. Stop it with Ctrl-C."""
    from services.bootstrap.embedded import run_embedded_server  # noqa: PLC0415 - no service alone needs it

    overrides: dict[str, object] = {"host": host, "port": port, "strict_engine": strict_engine}
    settings = read_settings(**{name: value for name, value in overrides.items() if value is not None})
    if "host" not in settings.model_fields_set:  # friends in the same network are who it is for
        settings = settings.model_copy(update={"host": EVERY_ADDRESS})
    set_up_logging(settings)
    stop = _stop_on_signal()
    with run_embedded_server(data, settings, processes=True) as running:
        tune_garbage_collector()
        print(f"Ledgerline is open at {running.url} (its API: {running.url}/docs)", flush=True)
        print(way_in(running.url, settings.host, settings.public_url or address_for_others()), flush=True)
        while not stop.wait(0.5):
            if reason := running.failure_reason():
                raise CommandLineError(reason)


def way_in(url: str, host: str, others: str) -> str:
    """Say, for people, how others open the server that listens on `host`, and how that is chosen.

    `others` is the host or the address that they know this machine by; empty: none."""
    if host != EVERY_ADDRESS:
        if not ip_address(urlsplit(url).hostname or "").is_loopback:
            return f"{_code_of(url)}\nIt listens on {host} alone (--host); without it, on every address."
        return f"Only this machine can open it (--host {host}); without --host, others in the network can."
    if not others:
        return "This machine is in no network now. In one, others can open it: it listens on every address."
    address = others if "://" in others else f"http://{others}:{urlsplit(url).port}"
    return (
        f"Others in your network open {address}\n\n{_code_of(address)}\n"
        "It listens on every address of this machine. With --host 127.0.0.1 nobody else can open it."
    )


def _code_of(address: str) -> str:
    """A QR code of an address, for a phone's camera in front of a terminal."""
    import segno  # noqa: PLC0415 - only `serve` draws one

    drawn = StringIO()
    segno.make_qr(address, error="l").terminal(drawn, border=2, compact=True)
    return drawn.getvalue()


def address_for_others() -> str:
    """The address of this machine in its network, from which it reaches others; empty where it reaches none."""
    with socket(AF_INET, SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
    return "" if ip_address(address).is_loopback else address


@app.command()
def referee() -> None:
    """Run a referee alone, on the engine of the settings (LEDGERLINE_REDIS_URL)."""
    _run_service("referee", partial(composition.run_referee, end_process=partial(os._exit, STUCK_EXIT_CODE)))


@app.command()
def bots() -> None:
    """Run a worker for bots alone, on the engine of the settings."""
    _run_service("bots", composition.run_bots)


@app.command()
def auditor() -> None:
    """Run an auditor alone: it puts finished games into the archive, on the engine of the settings."""
    _run_service("auditor", composition.run_auditor)


@app.command()
def gateway(strict_engine: StrictEngineOption = None) -> None:
    """Run a gateway alone, on the engine and the address of the settings."""
    import services.gateway.server  # noqa: F401, PLC0415 - a web framework, which no other service needs

    overrides = {} if strict_engine is None else {"strict_engine": strict_engine}
    _run_service("gateway", composition.run_gateway, GATEWAY_STOP_S, **overrides)


def _run_service(
    name: str, service: composition.ServiceRunner, stop_s: float = STOP_S, **overrides: object
) -> None:
    settings = read_settings(**overrides)
    set_up_logging(settings)
    tune_garbage_collector()
    with composition.observing(settings, name):
        service(settings, _stop_on_signal(stop_s))


def _stop_on_signal(stop_s: float = STOP_S) -> Event:
    """An event that is set when the process gets a signal to stop. `stop_s` later the process ends in any case, and at once
    when it is asked a second time from a terminal: nothing is lost by that, as by no other crash."""
    stop = Event()

    def stop_or_end() -> None:
        stop.set()
        time.sleep(stop_s)
        get_logger("services").error("service doesn't stop, it is ended", after_s=stop_s)
        os._exit(STUCK_EXIT_CODE)

    def request_stop(signal_number: int, _: object) -> None:
        if stop.is_set() and signal_number == signal.SIGINT:
            os._exit(STUCK_EXIT_CODE)
        # A thread of its own: the handler may run while this one holds the event's lock.
        Thread(target=stop_or_end, daemon=True).start()

    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, request_stop)
    return stop
