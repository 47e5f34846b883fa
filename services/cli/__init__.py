"""The `ledgerline` command. It imports nothing but its entry point, so that `ledgerline ask` starts fast."""

from services.cli.main import main

__all__ = ["main"]
