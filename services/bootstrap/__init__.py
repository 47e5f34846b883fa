"""The composition root, and all services on one machine."""
