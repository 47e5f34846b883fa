"""The services, in layers: each package imports only those below it (docs/architecture.md)."""
