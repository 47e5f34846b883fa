"""The pages in a real browser: whole games, refusals, lost connections, what keeps a page from people."""
