"""Tournaments of policies: paired games or a knock-out, played on the rules alone (`viewed_game`), and their figures."""
