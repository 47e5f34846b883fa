"""The contracts: what may be said, what may have happened, who may read it, under which keys.

Start with `commands` and `events`; `views` says what a log and a view are made of, `codec`
how all of it looks on the wire. Pure: no I/O, no clock, no dice.
"""
