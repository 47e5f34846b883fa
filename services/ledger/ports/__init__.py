"""The protocols of the ledger by role, and the records that they hand over."""
