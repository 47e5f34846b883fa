"""Clients of one engine or a cluster: connections, keys, queries, round trips."""
