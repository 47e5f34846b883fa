"""The policies that know the train games: `greedy`, `planner`, `hold-10` and `buy-now`, and the search that `searcher` makes there."""
