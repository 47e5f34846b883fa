"""The edge as a protocol: connections, frames, limits, parsing, and errors as problem details."""
