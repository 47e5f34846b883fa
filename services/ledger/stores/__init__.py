"""What is stored beside a log: disputes, webhooks, generations of tokens."""
