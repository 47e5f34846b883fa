"""Drawings of boards for requests: each is made once, and kept.

A board may be a stranger's, so it is drawn in a process that can be killed, and nothing else waits for that.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from concurrent.futures import Future
from functools import lru_cache, partial
from hashlib import sha256
from threading import Lock
from typing import Final

from schemas.trains.boards.form import BOARD_SCHEMA
from services.referee.games.trains.board import Board, build_board, is_built_in
from services.runtime.executors import FairThreadPool
from services.runtime.killable_processes import KillableProcess
from services.tables.board_drawing import draw_board

LIMIT_S: Final = 5.0  # for one drawing, which takes 0.2 s at most, on a busy machine
MAX_KEPT_BYTES: Final = 16_777_216  # of all drawings; the largest has 1.2 MB


class KeptDrawings:
    """Drawings as the JSON of the API's answer, by the digests of the boards' forms. To be closed."""

    def __init__(self) -> None:
        self._process = KillableProcess[bytes](__name__)
        self._threads = FairThreadPool("drawings", 1)
        self._drawings: OrderedDict[bytes, Future[bytes]] = OrderedDict()
        self._kept_bytes, self._lock = 0, Lock()

    def close(self) -> None:
        """End the process."""
        self._threads.shutdown()
        self._process.close()

    def find(self, board: Board, asker: str) -> Future[bytes]:
        """The drawing of a board, on any thread; it may not be there yet. Who asks for many waits for the others.

        The future raises NoAnswerError where the board isn't drawn in time."""
        text = _form_text(board)
        digest = sha256(text).digest()
        with self._lock:
            if (kept := self._drawings.get(digest)) is not None:
                self._drawings.move_to_end(digest)
                return kept
            draw = partial(self._draw, board if is_built_in(board) else None, text)
            drawing = self._drawings[digest] = self._threads.submit(asker, draw)
        drawing.add_done_callback(lambda _: self._keep(digest, drawing))
        return drawing

    def _draw(self, built_in: Board | None, text: bytes) -> bytes:
        if built_in is not None:
            return draw_board(built_in).model_dump_json().encode()
        return self._process.ask(partial(draw_form, text), LIMIT_S)

    def _keep(self, digest: bytes, drawing: Future[bytes]) -> None:
        """Keep a drawing that has ended, unless it failed; the least used go."""
        with self._lock:
            if drawing.cancelled() or drawing.exception() is not None:
                self._drawings.pop(digest, None)
                return
            self._kept_bytes += len(drawing.result())
            for other in list(self._drawings):
                if self._kept_bytes <= MAX_KEPT_BYTES:
                    break
                if self._drawings[other].done():
                    self._kept_bytes -= len(self._drawings.pop(other).result())


def draw_form(text: bytes) -> bytes:
    """The drawing of a board by the JSON of its form."""
    return draw_board(build_board(BOARD_SCHEMA.read_json(text))).model_dump_json().encode()


@lru_cache(maxsize=16)
def _form_text(board: Board) -> bytes:
    """The JSON of a board's form, the same for equal ones."""
    return json.dumps(BOARD_SCHEMA.write(board.form), separators=(",", ":")).encode()
