"""The compiled rules against pure Python: `make fast-check` (docs/compiled.md). Nothing here compiles them."""
