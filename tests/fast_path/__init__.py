"""The fast path, which names private parts of libraries."""
