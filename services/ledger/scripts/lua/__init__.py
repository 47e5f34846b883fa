"""The Lua scripts that Redis runs, one file each."""
