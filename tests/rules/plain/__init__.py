"""The parts of the plain referee (tests/rules/plain_referee.py). They import nothing of `services` or
`schemas`: what they know of the rules stands in docs/reference/rules, of the events in docs/reference/wire.md and
schemas/json/wire.json, of the shuffles in docs/reference/shuffle.md and docs/reference/proof.md."""
