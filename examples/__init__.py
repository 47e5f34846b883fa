"""Bots that anybody can begin with: docs/how-to/clients.md."""
