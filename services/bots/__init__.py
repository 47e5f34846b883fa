"""Bots: a worker that processes bot tasks, and the policies that choose its commands by what their seat sees.

Start with `worker`, then `policies/`. `kit/` is for bots that play over the network."""
