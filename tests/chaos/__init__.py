"""`make chaos`: faults while games are played, seen from outside, and a table of what was acknowledged and kept.

It speaks HTTP, WebSocket and the documented streams, and nothing else of the product. Start in `scenarios`, which has
the faults; `run` plays one; `recording` is what the clients were told, `findings` what is left of it.
"""
