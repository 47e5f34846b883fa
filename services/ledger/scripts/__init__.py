"""The Lua scripts of the engine, their arguments and replies, and the entries that they store."""
