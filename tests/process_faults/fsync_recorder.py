"""Runs a program and writes down which lengths of its files are on the disk: `fsync_recorder.py RECORD COMMAND...`.

A power cut keeps what was fsynced and any part of the rest. Nothing but the kernel knows what was, so this program
traces COMMAND and its threads (ptrace, as strace does: no compiler and no rights are needed) and notes the length that a
file had when an fsync of it began that succeeded. COMMAND goes on only once that is written down. It dies with this
program. `cut_power` then leaves of a folder what a power cut may leave.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

TRACE_ME, SYSCALL, SET_OPTIONS, GET_SYSCALL_INFO = 0, 24, 0x4200, 0x420E
# Marks stops at system calls; follows forks and threads; whoever is traced dies with the tracer.
OPTIONS: Final = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x100000
SYSCALL_STOP: Final = signal.SIGTRAP | 0x80
WAIT_FOR_ALL: Final = 0x40000000  # threads, too
FSYNCS: Final = {"x86_64": (74, 75), "aarch64": (82, 83)}  # fsync and fdatasync
ENTRY, EXIT = 1, 2


class SyscallInfo(ctypes.Structure):
    """`struct ptrace_syscall_info`; `number` is the result where the call ends."""

    _fields_ = (
        ("kind", ctypes.c_uint8),
        ("_padding", ctypes.c_uint8 * 3),
        ("_architecture", ctypes.c_uint32),
        ("_pointers", ctypes.c_uint64 * 2),
        ("number", ctypes.c_int64),
        ("arguments", ctypes.c_uint64 * 6),
    )


class Synced(NamedTuple):
    """A file by its inode, and how much of it is on the disk."""

    inode: int
    length: int


class Tracer:
    """One traced program."""

    def __init__(self, record: int) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self._libc.ptrace.restype = ctypes.c_long
        self._fsyncs = FSYNCS[platform.machine()]
        self._record, self._under_way = record, dict[int, Synced]()

    def run(self, command: Sequence[str]) -> int:
        """The exit code of the command."""
        self.pid = os.fork()
        if not self.pid:
            self._libc.ptrace(TRACE_ME, 0, None, None)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.execv(command[0], list(command))
        os.waitpid(self.pid, 0)
        self._ptrace(SET_OPTIONS, self.pid, None, ctypes.c_void_p(OPTIONS))
        signal.signal(signal.SIGTERM, lambda *_: os.kill(self.pid, signal.SIGTERM))
        self._resume(self.pid, 0)
        while True:
            thread, status = os.waitpid(-1, WAIT_FOR_ALL)
            if os.WIFSTOPPED(status):
                self._go_on(thread, status)
            elif thread == self.pid:
                return os.waitstatus_to_exitcode(status)

    def _go_on(self, thread: int, status: int) -> None:
        """Let a stopped thread go on, with the signal that it stopped for."""
        stopped_by = os.WSTOPSIG(status)
        if stopped_by == SYSCALL_STOP:
            self._note(thread)
        is_ours = (
            stopped_by in {SYSCALL_STOP, signal.SIGSTOP} or status >> 16
        )  # new threads begin with SIGSTOP
        self._resume(thread, 0 if is_ours else stopped_by)

    def _note(self, thread: int) -> None:
        """Note the length of a file whose fsync begins, and write it down when that has succeeded."""
        info = SyscallInfo()
        self._ptrace(GET_SYSCALL_INFO, thread, ctypes.c_void_p(ctypes.sizeof(info)), ctypes.byref(info))
        if info.kind == ENTRY and info.number in self._fsyncs:
            found = Path(f"/proc/{thread}/fd/{info.arguments[0]}").stat()
            self._under_way[thread] = Synced(found.st_ino, found.st_size)
        elif info.kind == EXIT and (synced := self._under_way.pop(thread, None)) and info.number == 0:
            os.write(self._record, f"{synced.inode} {synced.length}\n".encode())

    def _resume(self, thread: int, signal_number: int) -> None:
        self._libc.ptrace(
            SYSCALL, thread, None, ctypes.c_void_p(signal_number)
        )  # it may have been killed meanwhile

    def _ptrace(self, request: int, thread: int, address: object, data: object) -> None:
        if self._libc.ptrace(request, thread, address, data) < 0:
            raise OSError(ctypes.get_errno(), f"ptrace request {request:#x}")


def recorder(record: Path) -> list[str]:
    """The words before a command that run it under this program."""
    return [sys.executable, __file__, str(record)]


def cut_power(folder: Path, record: Path, random: Random) -> int:
    """Leave of each file what was fsynced and any part of the rest, as its program was killed. Returns how many bytes
    are lost."""
    synced = dict(Synced(*map(int, line.split())) for line in record.read_text().splitlines())
    lost = 0
    for file in folder.iterdir():
        found = file.stat()
        kept = random.randint(min(synced.get(found.st_ino, 0), found.st_size), found.st_size)
        os.truncate(file, kept)
        lost += found.st_size - kept
    return lost


if __name__ == "__main__":
    with open(sys.argv[1], "ab", buffering=0) as record_file:  # noqa: PTH123 - its number is what is written to
        sys.exit(Tracer(record_file.fileno()).run(sys.argv[2:]))
