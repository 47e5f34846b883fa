"""Commands about one game, or about the list of them: replay, watch, audit, export and verify, fork, suggest."""
