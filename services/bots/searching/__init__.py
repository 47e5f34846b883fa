"""The policy `searcher` in any game, and the halving of candidates that each search ends with."""
