"""Services as processes beside this one, forked before it has any threads: they start in milliseconds.

They end with the process that started them, however that ends: each waits for the end of a pipe of which only the
starter holds the other side. Signals of a terminal, and of whoever stops a whole group of processes, reach them
all; these ignore them, so that the starter alone decides in which order all stops.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from threading import Event, Thread
from typing import Final

from services.runtime.executors import core_count
from services.runtime.interpreter_tuning import tune_garbage_collector
from services.runtime.logging_setup import get_logger, write_repeat_counts

STOP_S: Final = 5.0  # processes that haven't stopped by then are killed
IGNORED_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ServiceBody = Callable[[Event], object]  # runs until the event is set


def can_fork_services() -> bool:
    """Whether services are faster in processes of their own, and can be forked: there is more than one core, and
    no thread that could hold a lock for ever in the copies."""
    return sys.platform == "linux" and core_count() > 1 and threading.active_count() == 1


@contextmanager
def forked_services(services: Mapping[str, ServiceBody], failed: Event) -> Iterator[None]:
    """Run each service in a process until the end of the block. Where one ends before, `failed` is set."""
    if services:
        tune_garbage_collector()  # for this process and all copies of it
    stop_read, stop_write = os.pipe()
    processes = dict[str, ForkProcess]()
    stopping = Event()
    try:
        with _signals_held_back():
            for name, run_service in services.items():
                arguments = (name, run_service, stop_read, stop_write)
                processes[name] = get_context("fork").Process(target=_run_child, args=arguments, name=name)
                processes[name].start()
        watch = Thread(target=_watch, args=(processes, stopping, failed), name="service-watch", daemon=True)
        watch.start()
        yield
    finally:
        stopping.set()
        for descriptor in (stop_read, stop_write):
            os.close(descriptor)
        deadline_s = time.monotonic() + STOP_S
        for process in processes.values():
            process.join(max(0.0, deadline_s - time.monotonic()))
            if process.exitcode is None:
                process.kill()
                process.join()


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """A signal reaches a copy of this process only when that ignores it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, IGNORED_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, IGNORED_SIGNALS)


def _watch(processes: Mapping[str, ForkProcess], stopping: Event, failed: Event) -> None:
    """Set `failed` once a process ends that isn't to stop."""
    ended = wait([process.sentinel for process in processes.values()])
    if stopping.is_set():
        return
    for name, process in processes.items():
        if process.sentinel in ended:
            process.join()  # its pipe closes a moment before its exit code can be read
            if process.exitcode != 1:  # one that failed has said why
                get_logger(name).error("service ended", exit_code=process.exitcode)
    failed.set()


def _run_child(name: str, run_service: ServiceBody, stop_read: int, stop_write: int) -> None:
    """Run the service in this process until the starter ends, or closes the pipe."""
    for signal_number in IGNORED_SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, IGNORED_SIGNALS)
    os.close(stop_write)
    stop = Event()

    def wait_for_end() -> None:
        os.read(stop_read, 1)
        stop.set()
        time.sleep(STOP_S)  # the starter may be gone, and kill nobody
        os._exit(1)

    Thread(target=wait_for_end, name="starter-watch", daemon=True).start()
    try:
        run_service(stop)
    except BaseException:
        get_logger(name).exception("service failed")
        sys.exit(1)
    finally:
        write_repeat_counts()
