"""The contracts: commands, events, entries, and how they look on the wire.

Start with `commands` and `events`, which declare each command and event once; `entries` is what logs and
views are made of, `codec` and `rows` are their bytes. Pure: no I/O, no clock, no random source, but for
`compiled_rules`, which looks for a build before anything else is imported.
"""

from schemas.compiled_rules import prefer_compiled_rules

prefer_compiled_rules()  # some of the contracts are compiled too (docs/compiled.md)
