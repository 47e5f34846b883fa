"""The tests; their programs decide by compiled rules, as the product's own do."""

import services.compiled_rules.at_start  # noqa: F401 - before any module that may be compiled
