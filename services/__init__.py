"""The services. Whatever is imported of them, the rules come in the form that this process can have (docs/compiled.md)."""

import schemas  # noqa: F401 - it settles the form, before any module is imported that may be compiled
