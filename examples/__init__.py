"""Bots that anybody can begin with: docs/clients.md."""
