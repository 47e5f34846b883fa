"""An engine in memory, at the level of Redis's commands: fast, in virtual time, breakable.

It runs the product's own Lua scripts, so that the product's ledgers run on it unchanged
through the clients in engine_client.py. It never waits: what blocks on a real engine returns
empty at once. Replies are those of RESP2. test_honest_engine.py compares it with a real engine.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from tests.simulator import engine_groups, engine_plain, engine_sets, engine_streams
from tests.simulator.engine_lua import lua
from tests.simulator.engine_plain import pattern
from tests.simulator.engine_store import OK, Clock, EngineReplyError, Status, Store, integer

Args = Sequence[bytes]
COMMANDS: Final = {
    **engine_plain.COMMANDS,
    **engine_sets.COMMANDS,
    **engine_streams.COMMANDS,
    **engine_groups.COMMANDS,
}
PONG = Status(b"PONG")


class Connection:
    """One client's connection, valid until the engine goes down."""

    def __init__(self, engine: Engine) -> None:
        self.generation = engine.generation
        self.offset = 0  # of its own last write, which WAIT waits for
        self.patterns: dict[bytes, bool] = {}  # subscribed channels; True for a pattern
        self.messages: deque[tuple[bytes | None, bytes, bytes]] = deque()  # pattern, channel, message
        self.on_message: Callable[[], None] | None = None  # called when a message arrives


class Engine:
    """One primary, its disk and its replica.

    `journal` has how far disk and replica are behind, and can let them lag.
    The features are those of a recent version with AOF, and can be changed."""

    def __init__(self, clock: Clock) -> None:
        self.store = Store(clock)
        self.journal = self.store.journal
        self.generation = 0  # counts up when the engine goes down: older connections are dead
        self.issued: Counter[bytes] = Counter()  # every command executed, from scripts too
        self.loses_message: Callable[[bytes, bytes], bool] | None = (
            None  # decides for a channel and message, per listener
        )
        self.knows_wait_aof = True
        self.replicas = 1  # their number; they all lag alike
        self.replica_answers = True  # False: WAIT counts none
        self.disk_answers = True
        self.config = {
            b"appendonly": b"yes",
            b"appendfsync": b"always",
            b"no-appendfsync-on-rewrite": b"no",
            b"maxmemory": b"0",
            b"maxmemory-policy": b"noeviction",
        }
        self._scripts: set[bytes] = set()
        self._listeners: list[Connection] = []
        self._lua = lua()

    # -- commands and failures -----------------------------------------------------------------

    def execute(self, connection: Connection, *words: bytes) -> Any:
        """Execute one command of one connection. Raises EngineReplyError."""
        name = words[0].upper()
        try:
            if (command := COMMANDS.get(name)) is not None:
                self.issued[name] += 1
                return command(self.store, words[1:])
            if (own := OWN.get(name)) is not None:
                self.issued[name] += 1
                return own(self, connection, words[1:])
        except (IndexError, ValueError):
            raise EngineReplyError(
                f"ERR wrong number of arguments for '{name.decode().lower()}' command"
            ) from None
        finally:
            if self.journal.commit():
                connection.offset = self.journal.offset
        raise EngineReplyError(f"ERR unknown command '{words[0].decode()}', with args beginning with: ")

    def fail_over(self) -> int:
        """The primary dies and its replica takes over, without the writes that it lacks. Returns how
        many groups of writes are lost."""
        return self._down(self.journal.replicated)

    def crash(self) -> int:
        """The engine dies and starts again from its disk. Returns how many groups of writes are lost."""
        return self._down(self.journal.fsynced)

    def disconnect(self) -> None:
        """Every connection breaks; nothing else is lost."""
        self.generation += 1
        for listener in self._listeners:
            if listener.on_message:
                listener.on_message()
        self._listeners.clear()

    def forget_scripts(self) -> None:
        self._scripts.clear()

    def _down(self, offset: int) -> int:
        self.disconnect()
        self.forget_scripts()
        return self.journal.back_to(offset)

    # -- scripts ----------------------------------------------------------------------

    def _evalsha(self, connection: Connection, args: Args) -> Any:
        sha = args[0].lower()
        if sha not in self._scripts:
            raise EngineReplyError("NOSCRIPT No matching script.")
        return self._lua.run(sha, integer(args[1]), args[2:], self._from_script)

    def _eval(self, connection: Connection, args: Args) -> Any:
        self._scripts.add(sha := self._lua.compile(args[0]))
        return self._evalsha(connection, (sha, *args[1:]))

    def _from_script(self, name: bytes, args: Args) -> Any:
        self.issued[name] += 1
        command = COMMANDS.get(name)
        if command is not None:
            return command(self.store, args)
        if name == b"PUBLISH":
            return self._publish(None, args)
        raise EngineReplyError("ERR Unknown Redis command called from script")

    def _script(self, connection: Connection, args: Args) -> Any:
        word = args[0].upper()
        if word == b"LOAD":
            self._scripts.add(sha := self._lua.compile(args[1]))
            return sha
        if word == b"EXISTS":
            return [int(sha.lower() in self._scripts) for sha in args[1:]]
        if word == b"FLUSH":
            self.forget_scripts()
            return OK
        raise EngineReplyError(f"ERR unknown subcommand '{args[0].decode()}'. Try SCRIPT HELP.")

    # -- channels ---------------------------------------------------------------------

    def _publish(self, connection: Connection | None, args: Args) -> int:
        channel, message = args
        receivers = 0
        for listener in self._listeners:
            for listened, is_pattern in listener.patterns.items():
                if not (pattern(listened).match(channel) if is_pattern else listened == channel):
                    continue
                receivers += 1
                if self.loses_message and self.loses_message(channel, message):
                    continue
                listener.messages.append((listened if is_pattern else None, channel, message))
                if listener.on_message:
                    listener.on_message()
        return receivers

    def _subscribe(self, connection: Connection, args: Args, is_pattern: bool = False) -> None:
        if connection not in self._listeners:
            self._listeners.append(connection)
        connection.patterns.update(dict.fromkeys(args, is_pattern))

    def _psubscribe(self, connection: Connection, args: Args) -> None:
        self._subscribe(connection, args, True)

    def _unsubscribe(self, connection: Connection, args: Args) -> None:
        for channel in args:
            connection.patterns.pop(channel, None)

    def unsubscribe_all(self, connection: Connection) -> None:
        """End every subscription of this connection."""
        if connection in self._listeners:
            self._listeners.remove(connection)

    # -- promises of the engine -------------------------------------------------------

    def _wait(self, connection: Connection, args: Args) -> int:
        """WAIT replicas timeout: how many replicas have this connection's own last write."""
        if self.replica_answers and self.replicas:
            self.journal.replicate(connection.offset)
        return self.replicas if self.journal.replicated >= connection.offset else 0

    def _wait_aof(self, connection: Connection, args: Args) -> list[int]:
        """WAITAOF local replicas timeout: how many disks have it, the engine's own and its replicas'."""
        if not self.knows_wait_aof:
            raise EngineReplyError("ERR unknown command 'WAITAOF', with args beginning with: ")
        if integer(args[0]) and self.config[b"appendonly"] == b"no":
            raise EngineReplyError(
                "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
            )
        if self.disk_answers and self.config[b"appendonly"] == b"yes":
            self.journal.fsync(connection.offset)
        local = self.config[b"appendonly"] == b"yes" and self.journal.fsynced >= connection.offset
        return [int(local), self._wait(connection, args) if integer(args[1]) else 0]

    def _config(self, connection: Connection, args: Args) -> Any:
        if args[0].upper() == b"SET":
            self.config.update(zip(args[1::2], args[2::2], strict=True))
            return OK
        asked = [name for name in self.config for glob in args[1:] if pattern(glob).match(name)]
        return [word for name in dict.fromkeys(asked) for word in (name, self.config[name])]

    def _info(self, connection: Connection, args: Args) -> bytes:
        replicas = "".join(f"slave{k}:ip=127.0.0.1,port={k},state=online\r\n" for k in range(self.replicas))
        aof = int(self.config[b"appendonly"] == b"yes")
        return (
            f"# Server\r\nredis_version:7.4.0\r\nrun_id:{'0' * 40}\r\n# Memory\r\nmaxmemory:0\r\n"
            f"maxmemory_policy:noeviction\r\n# Persistence\r\nloading:0\r\naof_enabled:{aof}\r\n"
            "aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\naof_last_write_status:ok\r\n"
            f"# Replication\r\nrole:master\r\nconnected_slaves:{self.replicas}\r\n{replicas}"
            f"master_repl_offset:{self.journal.offset}\r\n"
        ).encode()

    def _ping(self, connection: Connection, args: Args) -> bytes:
        return args[0] if args else PONG


OWN: Final[dict[bytes, Callable[[Engine, Connection, Args], Any]]] = {
    b"EVALSHA": Engine._evalsha,
    b"EVAL": Engine._eval,
    b"SCRIPT": Engine._script,
    b"PUBLISH": Engine._publish,
    b"SUBSCRIBE": Engine._subscribe,
    b"UNSUBSCRIBE": Engine._unsubscribe,
    b"PSUBSCRIBE": Engine._psubscribe,
    b"WAIT": Engine._wait,
    b"WAITAOF": Engine._wait_aof,
    b"CONFIG": Engine._config,
    b"INFO": Engine._info,
    b"PING": Engine._ping,
}
