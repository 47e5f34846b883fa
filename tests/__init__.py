import services.compiled_rules.at_start  # noqa: F401 - before any module that may be compiled
