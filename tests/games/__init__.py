"""Tests of games that are no train games, and of games of other packages."""
