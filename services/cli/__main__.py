"""`python -m services.cli`: the `ledgerline` command."""

from services.cli import main

main()
