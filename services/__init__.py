"""The services, in layers: each package imports only those below it (docs/explanation/architecture.md)."""

from typing import Final

VERSION: Final = "0.1.0"  # that of pyproject.toml
