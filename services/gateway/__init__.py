"""The gateway: it submits players' commands and sends players their views. It knows no rules.

Start with `server` (the web application), then `games/service` (what it does), then `following/hub` (who follows which game).
Each room knows only those below it: pyproject.toml lists them in order.
"""
