"""Attacks on a running server, one module each, as a stranger would try them.

Each test plays an attack over the public API or the command line, and fails where the product lets it in:

- `test_credentials` tries everything that is shown of a game as a key to a seat;
- `test_endless_search` plays games on boards whose search for the best never ended;
- `test_flooded_games` does all that `test_floods` does at once, while games are played;
- `test_floods` opens connections, sends requests and messages without end, and reads nothing;
- `test_foreign_signatures` puts games into the archive that somebody else signed;
- `test_foreign_text` plants markup and escape sequences in what commands print;
- `test_forwarded_for` writes addresses of others into its requests;
- `test_named_seeds` guesses the name of a seed;
- `test_token_matrix` asks everything by everybody: one table has what each token opens;
- `test_token_keys` tries keys that can be guessed, and tokens that were withdrawn or have ended;
- `test_generated_requests` sends what schemathesis makes of the OpenAPI document, right and wrong;
- `test_hostile_files` hands bombs and forged logs to whoever reads files of games;
- `test_other_sites` sends what a page of another site can, and bodies that two parsers read differently;
- `test_quotas` creates games without end.
"""
