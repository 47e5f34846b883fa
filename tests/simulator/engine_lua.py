"""Lua as an engine runs it: one interpreter a process, every script compiled once.

A script's errors come out as EngineReplyError, its replies as a client would get them. Errors
don't name the line that failed, and Lua's own pcall doesn't see the errors of redis.call as text, as
it does on a real engine: test_honest_engine.py pins both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha1
from typing import Any

from lupa.lua51 import LuaError, LuaRuntime, lua_type  # type: ignore[import-untyped]  # it ships no types

from tests.simulator.engine_store import EngineReplyError, Status

Call = Callable[[bytes, Sequence[bytes]], Any]  # runs a command of a script: its name, its arguments

PRELUDE = b"""
redis = {
  call = call, pcall = try, sha1hex = sha1hex,
  error_reply = function(text)
    if string.sub(text, 1, 1) == '-' then text = string.sub(text, 2) end
    return { err = string.find(text, ' ') and text or 'ERR ' .. text }
  end,
  status_reply = function(text) return { ok = text } end,
}
function split(n, ...)
  local keys, args = {}, { ... }
  for k = 1, n do keys[k] = args[k] end
  local argv = {}
  for a = n + 1, #args do argv[a - n] = args[a] end
  return keys, argv
end
for _, name in ipairs({ 'python', 'io', 'os', 'require', 'package', 'module', 'dofile', 'loadfile', 'print',
                        'call', 'try', 'sha1hex' }) do
  _G[name] = nil
end
setmetatable(_G, {
  __index = function(_, name) error("Script attempted to access nonexistent global variable '" .. name .. "'") end,
  __newindex = function() error('Attempt to modify a readonly table') end,
})
"""


class Lua:
    """An interpreter, and the engine that its scripts' commands go to during a run."""

    def __init__(self) -> None:
        self._lua = LuaRuntime(encoding=None, register_eval=False, register_builtins=False)
        self._compiled: dict[bytes, Any] = {}
        self._call: Call = _no_engine
        names = self._lua.globals()
        names[b"call"], names[b"try"], names[b"sha1hex"] = self.call, self.pcall, _sha1hex
        self._lua.execute(PRELUDE)

    def compile(self, text: bytes) -> bytes:
        """The script's hash; from then on it can be run. Raises EngineReplyError if it doesn't compile."""
        sha = sha1(text, usedforsecurity=False).hexdigest().encode()
        if sha not in self._compiled:
            try:
                whole = b"return function(...) local KEYS, ARGV = split(...) " + text + b"\nend"
                self._compiled[sha] = self._lua.execute(whole)
            except LuaError as error:
                raise EngineReplyError(f"ERR Error compiling script (new function): {error}") from None
        return sha

    def run(self, sha: bytes, keys: int, words: Sequence[bytes], call: Call) -> Any:
        """A compiled script's reply to these keys and arguments. Raises EngineReplyError."""
        self._call = call
        try:
            return self._client_reply(self._compiled[sha](keys, *words))
        except LuaError as error:
            raise EngineReplyError(f"ERR {error}") from None
        finally:
            self._call = _no_engine

    def call(self, name: bytes, *words: bytes | float) -> Any:
        """redis.call"""
        reply = self._call(name, [word if type(word) is bytes else _text(word) for word in words])
        kind = type(reply)
        if kind is bytes or kind is int:
            return reply
        return self._script_value(reply)

    def pcall(self, name: bytes, *words: bytes | float) -> Any:
        """redis.pcall"""
        try:
            return self.call(name, *words)
        except EngineReplyError as error:
            return self._lua.table_from({b"err": str(error).encode()})

    def _script_value(self, reply: Any) -> Any:
        """A reply as a script sees it."""
        if reply is None:
            return False
        if isinstance(reply, Status):
            return self._lua.table_from({b"ok": bytes(reply)})
        if isinstance(reply, list):
            return self._lua.table_from([self._script_value(item) for item in reply])
        return reply

    def _client_reply(self, value: Any) -> Any:
        """A script's reply as a client gets it."""
        if lua_type(value) == "table":
            return self._table_reply(value)
        if isinstance(value, bool):
            return 1 if value else None
        if isinstance(value, float):
            return int(value)
        return value

    def _table_reply(self, table: Any) -> Any:
        if (error := table[b"err"]) is not None:
            raise EngineReplyError(error.decode())
        if (status := table[b"ok"]) is not None:
            return Status(status)
        result: list[Any] = []
        while (item := table[len(result) + 1]) is not None:
            result.append(self._client_reply(item))
        return result


@cache
def lua() -> Lua:
    """The process's interpreter: making one for every engine would cost more than most games."""
    return Lua()


def _no_engine(name: bytes, words: Sequence[bytes]) -> Any:
    raise AssertionError("a script ran outside an engine")


def _text(number: Any) -> bytes:
    """A number as redis.call passes it on."""
    if type(number) is int:
        return b"%d" % number
    if type(number) is float:
        return b"%.17g" % number
    raise EngineReplyError("ERR Lua redis lib command arguments must be strings or integers")


def _sha1hex(text: Any) -> bytes:
    return sha1(text if type(text) is bytes else _text(text), usedforsecurity=False).hexdigest().encode()
