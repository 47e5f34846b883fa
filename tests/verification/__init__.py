"""Tests of what can be checked of a game."""
