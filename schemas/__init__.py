"""The contracts: commands, events, entries, and how they look on the wire.

Start with `commands` and `events`, which declare each command and event once; `entries` is what logs and
views are made of, `codec` and `rows` are their bytes (`stored`). Pure: no I/O, no clock, no random source.
"""
