"""`make load`: so many games of people and bots in play, as people play them, on this machine or at an address elsewhere.

It speaks HTTP and WebSocket, and nothing else of the product. Start in `people`, which has what one process of people
does; `run` leads the processes, `machine_table` makes of a run what a larger one needs.
"""
