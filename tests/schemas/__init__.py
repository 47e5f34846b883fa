"""The contracts and the codec: what gets in, what never gets out, and what may never change."""
