"""Commands for an operator: what the server does and where it fails, disputes, keys, and the names of persons."""
