"""The page for an arbiter: one HTML file of an audit."""
