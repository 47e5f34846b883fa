"""Bots: a worker that answers notes on the turns stream, and the policies it plays by.

A policy sees what its seat sees. Start with `worker`, then `policies/`.
"""
