"""Planted bugs: each breaks one line that keeps a promise, and some test must notice.

`planted.py` lists them; `make mutants` (`python -m tests.mutants`) plants each in a copy of
the tree, runs the tests that should notice, and prints which one did. None may survive.
"""
