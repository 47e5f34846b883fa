"""A client without its connection: one seat's view of its game, and its command without a verdict.

`receive` takes the server's messages and `outgoing` has the next one to be sent; the clients around it only carry
text. Entries are checked against the chain before they count (docs/reference/proof.md). A command keeps its id until
it has a verdict, and no second one is sent before that.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from schemas.commands import Command, write_command
from schemas.contract import Json
from schemas.errors import CorruptDataError, LedgerlineError
from schemas.events import CommandRefused, GameStarted, SeatTaken
from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry
from services.referee.games import GameState, fold_events, legal
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.view_verifier import ViewVerifier


class KitError(LedgerlineError):
    """Base of the kit's errors."""


class UnreachableError(KitError):
    """The server didn't answer for as long as the client had patience."""


class ServerRefusedError(KitError):
    """The server's final refusal: the HTTP status (0 for none), the rule's id ('' for none), and why."""

    def __init__(self, status: int, rule: str, detail: str) -> None:
        super().__init__(f"{rule}: {detail}" if rule else detail)
        self.status, self.rule, self.detail = status, rule, detail

    @classmethod
    def of_problem(cls, problem: Mapping[str, object]) -> ServerRefusedError:
        """The error that problem details (RFC 9457) describe."""
        status = problem.get("status")
        detail = problem.get("detail") or problem.get("title") or "no reason given"
        return cls(status if isinstance(status, int) else 0, str(problem.get("rule") or ""), str(detail))


NORMAL, POLICY_VIOLATION, INTERNAL_ERROR = 1000, 1008, 1011  # codes of a close (RFC 6455, 7.4)
BEGIN_ANEW: Final = 4002  # ours: the log lost entries that the client has. After most others it goes on
BUSY_STATUSES: Final = (429, 503)  # of problems that pass: ask again
PAUSE_S: Final = 0.5  # before a command without a verdict is sent again
NOTHING_KNOWN: Final = ("", "")


class Refusal(NamedTuple):
    """Which rule forbids a command, and why."""

    rule: str
    why: str


class Verdict(NamedTuple):
    """The referee's decision on a command: the entry's number (None: it has none), and the refusal, if it is one."""

    id: str
    number: int | None
    refused: Refusal | None


class Turn(NamedTuple):
    """A seat is asked to act."""

    number: int  # of the entry after which
    state: GameState  # as the seat sees it; not to be changed
    seat: Seat
    commands: list[Command]  # what is legal, at least one
    refused: Refusal | None  # the seat's last command, if it was refused


class SentCommand(NamedTuple):
    """A command without a verdict yet."""

    id: str
    command: Command


class SeatSession:
    """A seat's view so far, verified and folded, and its one command that has no verdict.

    `expected` is known from the join: the head after the first entry, and the player's contribution to the deal. Unless
    empty, the view must show them."""

    def __init__(self, game: str, seat: Seat, expected: tuple[str, str] = NOTHING_KNOWN) -> None:
        self.game, self.seat, self.expected = game, seat, expected
        self.pending: SentCommand | None = None
        self.verdict: Verdict | None = None  # on the last command
        self.on_entry: Callable[[ViewEntry], None] | None = None  # is called with each entry that counts
        self._pause_s = 0.0
        self._problem: ServerRefusedError | None = None  # why the server will close
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget the view: it is read again from its first entry. A command without a verdict stays one."""
        self.names: dict[str, str] = {}
        self.state, self.verifier = GameState(self.names), ViewVerifier(self.game, self.seat)
        self.disconnected()

    def disconnected(self) -> None:
        """Note that the connection ended: messages on their way may be lost."""
        self._end: int | None = None  # the game's last entry, when the connection opened
        self._is_sent = False

    # -- what is known -----------------------------------------------------------------

    @property
    def number(self) -> int:
        """The number of the last entry; 0 before the first."""
        return self.verifier.sequence

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.state.result is not None

    @property
    def path(self) -> str:
        """The path of the WebSocket below the server's address; it goes on after the last entry."""
        known = f"after={self.number}&head={self.verifier.head.hex()}" if self.number else "after=0"
        return f"/v1/games/{self.game}/play?proofs=true&{known}"

    def turn(self) -> Turn | None:
        """The seat's turn; None if it has none, its last command has no verdict, or there is more to read."""
        if self.pending is not None or not self._has_caught_up() or self.is_over:
            return None
        commands = legal(self.state, self.seat)
        refused = self.verdict.refused if self.verdict else None
        return Turn(self.number, self.state, self.seat, commands, refused) if commands else None

    def _has_caught_up(self) -> bool:
        return self._end is not None and self.number >= self._end

    # -- sending -----------------------------------------------------------------------

    def send(self, command: Command) -> None:
        """Make this the command to be sent. Raises KitError while another one has no verdict."""
        if self.pending is not None:
            raise KitError(f"the command {self.pending.id} has no verdict yet; ask for the next turn")
        self.pending, self.verdict, self._is_sent = SentCommand(secrets.token_hex(12), command), None, False

    def outgoing(self) -> str | None:
        """The message to be sent now. After an interruption a command is sent again only if the view doesn't answer it."""
        if self.pending is None or self._is_sent or not self._has_caught_up():
            return None
        self._is_sent = True
        return json.dumps({"id": self.pending.id, "command": write_command(self.pending.command)})

    def send_again(self) -> None:
        """Send the command without a verdict once more, under its id: nothing was heard of it."""
        self._is_sent = False

    def take_pause(self) -> float:
        """How many seconds to wait before anything is sent; 0 the next time."""
        pause_s, self._pause_s = self._pause_s, 0.0
        return pause_s

    # -- receiving ---------------------------------------------------------------------

    def receive(self, text: str | bytes) -> None:
        """Take a message of the server. Raises VerificationFailedError: it doesn't fit the server's commitments;
        CorruptDataError: it can't be read."""
        try:
            message = json.loads(text)
            match message["type"]:
                case "entry":
                    self._receive_entry(message)
                case "attached":
                    self._end = int(message["number"])
                case "problem":
                    self._receive_problem(message)
                case "unknown":
                    self._pause(PAUSE_S)
                case other if other != "acknowledged":
                    raise ValueError(f"a message of the type {other}")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise CorruptDataError(f"the server sent what no gateway sends: {error}") from None

    def _receive_entry(self, message: Json) -> None:
        number = int(message["number"])
        if number > self.number:  # else it was sent again, as the verdict on an id
            proof = message["proof"]
            part = None if proof["part"] is None else b64decode(proof["part"])
            entry = build_view_entry(
                number, b64decode(proof["public"]), part, bytes.fromhex(message["head"] or "")
            )
            self._apply(entry, message["events"])
        if self.pending is not None and message["answers"] == self.pending.id:
            refused = [event for event in message["events"] if event["type"] == CommandRefused.type]
            self._settle(number, Refusal(refused[0]["rule"], refused[0]["why"]) if refused else None)

    def _apply(self, entry: ViewEntry, shown: list[Json]) -> None:
        self.verifier.verify(entry)
        self._require_expected(entry)
        for event in shown:  # names stand beside the log; the bytes have commitments to them
            if event["type"] == SeatTaken.type and event["name_commitment"] is not None:
                self.names[event["name_commitment"]] = str(event["name"])
        fold_events(self.state, entry.at, entry.events)
        if self.on_entry is not None:
            self.on_entry(entry)

    def _require_expected(self, entry: ViewEntry) -> None:
        first_head, contribution = self.expected
        if entry.number == 1 and first_head and self.verifier.head.hex() != first_head:
            raise VerificationFailedError(
                1, "it isn't the first entry that was shown before the seat was taken"
            )
        starts = any(isinstance(event, GameStarted) for event in entry.events)
        # somebody who sat there before, and was removed, had another contribution
        if contribution and starts and self.state.seats[self.seat].contribution != contribution:
            raise VerificationFailedError(entry.number, "the deal hasn't the player's own contribution")

    def _receive_problem(self, message: Json) -> None:
        problem, id_ = message["problem"], message["id"]
        is_busy = problem.get("status") in BUSY_STATUSES
        if is_busy:
            self._pause(float(problem.get("retry_after") or PAUSE_S))
        if id_ is None:
            self._problem = None if is_busy else ServerRefusedError.of_problem(problem)
        elif self.pending is not None and id_ == self.pending.id and not is_busy:
            error = ServerRefusedError.of_problem(problem)
            self._settle(problem.get("number"), Refusal(error.rule, error.detail))

    def _pause(self, seconds: float) -> None:
        self._pause_s, self._is_sent = seconds, False

    def _settle(self, number: int | None, refused: Refusal | None) -> None:
        assert self.pending is not None, "the caller has looked"
        self.verdict, self.pending = Verdict(self.pending.id, number, refused), None

    def closed(self, code: int, reason: str) -> None:
        """Note how the connection ended. Raises ServerRefusedError if it makes no sense to come back."""
        problem, self._problem = self._problem, None
        self.disconnected()
        if code == BEGIN_ANEW:
            self.begin_anew()
        elif problem is not None:
            raise problem
        elif (code == INTERNAL_ERROR and "ping" not in reason) or (
            code == POLICY_VIOLATION and not self._pause_s
        ):
            raise ServerRefusedError(0, "", reason or f"the server closed the connection ({code})")
        elif code == NORMAL and not self.is_over:
            raise ServerRefusedError(
                0, "", f"the server ended the connection: {reason or 'without a reason'}"
            )
