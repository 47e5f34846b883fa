"""Limits of a gateway's clients: their rates, the games that they create, and what their commands may cost everybody
else.

A game on a board of its creator's, or from a position, is as large as its creator makes it. Its game bounds
what it costs, but an operator may want less: so a setting says who may create one.

A seat's commands have a rate of their own. Together those of an address have so many places in the referees' queues:
one that finds none free waits for its turn, in which senders follow each other. So do those of a creator's games,
wherever they come from. A refused command costs its address and its creator a piece of the one budget that games,
lists, suggestions and archives are paid from, too; once that is spent, seats whose last command was refused are
stopped. Others at that address play on.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.web.tokens import DEFAULT_LIFE_S
from services.gateway.errors import NotYoursError, TooManyError
from services.gateway.games.open_games import Creator
from services.gateway.web.rate_limit import MAX_SENDERS, RateLimiter
from services.runtime.connection_limits import ServerLimits
from services.runtime.forgetful_mapping import Recent
from services.runtime.settings import Settings
from services.runtime.webhook_urls import WebhookPolicy

KEY_SETTING: Final = "LEDGERLINE_OPERATOR_KEY"


class OwnBoards(NamedTuple):
    """The setting of games on boards of their creator's and from positions, and the operator's key, if there
    is one."""

    creators: str = "everyone"  # or "operator", or "nobody"
    operator_key: bytes = b""

    def is_operator(self, bearer: str | None) -> bool:
        """Whether this is the operator's key."""
        return bool(self.operator_key and bearer) and hmac.compare_digest(
            (bearer or "").encode(), self.operator_key
        )

    def require_creator(self, bearer: str | None) -> None:
        """Raise NotYoursError (OPERATOR-1) unless the sender of this may create such a game."""
        if self.creators == "everyone" or (self.creators == "operator" and self.is_operator(bearer)):
            return
        who = "only who sends the operator's key" if self.creators == "operator" else "nobody"
        raise NotYoursError(
            f"{who} may create games on boards of their own or from positions here "
            f"(LEDGERLINE_OWN_BOARDS={self.creators})",
            "OPERATOR-1",
        )


class ClientLimits(NamedTuple):
    """Limits of clients; None is no limit."""

    rate_limiter: RateLimiter  # of commands, by seat or address
    answer_timeout_s: float = ServerLimits.answer_s  # unless the sender of a command says how long it waits
    stall_s: float = ServerLimits.stall_s
    read_limiter: RateLimiter | None = None  # of reads and opened sockets, by address
    origins: Collection[str] | None = None  # whose pages may open sockets
    max_open_games: int = 1_000_000  # that one address, or one creator, created and that aren't over
    own_boards: OwnBoards = OwnBoards()
    webhook_policy: WebhookPolicy = WebhookPolicy()  # where webhooks may lead
    token_life_s: int = DEFAULT_LIFE_S
    push_key: str = (
        ""  # public, in base64url: whose messages of Web Push devices take; empty where none are sent
    )


def read_own_boards(settings: Settings) -> OwnBoards:
    """Read it from the settings. Raises InvalidInputError: only the operator may, and there is no key."""
    key = settings.operator_key.get_secret_value()
    if settings.own_boards == "operator" and not key:
        raise InvalidInputError(KEY_SETTING, "is missing: LEDGERLINE_OWN_BOARDS=operator needs it")
    return OwnBoards(settings.own_boards, key.encode())


def has_own_board(body: Mapping[str, object]) -> bool:
    """Whether a creation's body asks for a board of its creator's, or for a position, well-formed or not."""
    return not isinstance(body.get("board", ""), str | None) or body.get("position") is not None


MAX_UNANSWERED: Final = 64  # a referee decides them in some 20 ms
WHOSE: Final = "your address, or to one creator's games,"
HEAVY_COST: Final = 20  # of a fork, a board of one's own or a list of games, in commands


SeatId = tuple[str, Seat | None]  # of a game; None: its host, or who joins it


class Places:
    """The places of an account's commands that have no verdict yet, and the commands that wait for one."""

    __slots__ = ("__weakref__", "taken", "waiting")

    def __init__(self) -> None:
        self.taken = 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """Take a place, after all who wait already."""
        if self.taken < MAX_UNANSWERED:
            self.taken += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.free()
            raise

    def free(self) -> None:
        """Hand a place to who waits longest; else it is free."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.taken -= 1


class Account(NamedTuple):
    """What commands are counted for: an address, or the games of a creator, which strangers play, too."""

    budget: object  # what its refused commands are paid from: an address has one for all that it asks
    places: Places


class CommandBudgets:
    """The budgets of a gateway's senders. `creators_of` names who created a game; what an account has to spend a second
    is `rate_limiter`'s."""

    def __init__(self, rate_limiter: RateLimiter, creators_of: Callable[[str], Collection[Creator]]) -> None:
        self.rate_limiter, self._creators_of = rate_limiter, creators_of
        self._places: WeakValueDictionary[Creator, Places] = WeakValueDictionary()
        self.refused = Recent[SeatId, None](MAX_SENDERS)  # seats whose last command was

    def sender(self, game: str, seat: Seat | None, client: str) -> CommandSender:
        """A seat (None: the host, or nobody yet) that sends commands to a game from this address."""
        address = Creator.at(client)
        creators = [] if seat is None else self._creators_of(game)
        owners = dict.fromkeys((address, *creators))
        accounts = [
            Account(
                owner if owner == address else ("games of", owner), self._places.setdefault(owner, Places())
            )
            for owner in owners
        ]
        return CommandSender(self, (game, seat), accounts)

    def charge(self, creators: Collection[Creator], cost: float) -> None:
        """Take from the budget of each. Raises RateExceededError: one hasn't as much."""
        for creator in creators:
            self.rate_limiter.require(creator, cost)


class CommandSender:
    """A seat at an address: what it sends takes a place of each of its accounts, until it is answered."""

    __slots__ = ("_accounts", "_budgets", "_seat")

    def __init__(self, budgets: CommandBudgets, seat: SeatId, accounts: Collection[Account]) -> None:
        self._budgets, self._seat, self._accounts = budgets, seat, accounts

    def may_take(self) -> bool:
        """Whether there is a place for a command now, and nothing to pay for refused ones."""
        for account in self._accounts:
            if account.places.taken >= MAX_UNANSWERED:
                return False
        return self._seat not in self._budgets.refused

    def take_at_once(self) -> None:
        """Take a place for a command that is there."""
        for account in self._accounts:
            account.places.taken += 1

    def require(self) -> None:
        """Raise RateExceededError if the seat's last command was refused, and an account's budget is spent."""
        if self._seat not in self._budgets.refused:
            return
        limiter = self._budgets.rate_limiter
        for account in self._accounts:
            if retry_after_s := limiter.acquire(account.budget, 0):
                limit = f"{limiter.rate:g} refused {limiter.what} of {WHOSE}"
                raise limiter.excess(limit, retry_after_s)

    async def take(self) -> None:
        """Take a place for a command, in turn."""
        taken: list[Places] = []
        try:
            for account in self._accounts:
                await account.places.take()
                taken.append(account.places)
        except asyncio.CancelledError:
            for places in taken:
                places.free()
            raise

    async def take_within(self, wait_s: float) -> None:
        """Take a place for a command. Raises RateExceededError, or TooManyError: there is none in time."""
        self.require()
        try:
            async with asyncio.timeout(wait_s):
                await self.take()
        except TimeoutError:
            detail = f"{MAX_UNANSWERED} commands of {WHOSE} wait for their verdict"
            raise TooManyError("BUSY-1", detail, 1) from None

    def answered(self, *, is_refused: bool | None) -> None:
        """Free a command's place, and note its verdict; None where it has none."""
        for account in self._accounts:
            account.places.free()
        if is_refused is not None:
            self.note(is_refused=is_refused)

    def note(self, *, is_refused: bool) -> None:
        """Note that a message was refused, and charge for that, or that it was accepted."""
        refused = self._budgets.refused
        if not is_refused:
            refused.pop(self._seat, None)
            return
        for account in self._accounts:
            self._budgets.rate_limiter.spend(account.budget)
        refused[self._seat] = None
