"""The contracts of the web edge: tokens, webhooks, disputes, socket messages, questions about a position."""
