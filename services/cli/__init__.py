"""The `ledgerline` command. It imports only its entry point, so that `ledgerline ask` starts fast."""

from services.cli.main import main

__all__ = ["main"]
