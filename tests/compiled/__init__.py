"""The compiled rules against pure Python: `make fast-check` (docs/how-to/compiled.md). Nothing here compiles them."""
