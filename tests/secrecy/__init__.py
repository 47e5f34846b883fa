"""Nobody learns what it may not know: the gate, the deals behind it, the shuffle, and who tries to guess."""
