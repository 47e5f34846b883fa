"""The gateway: it submits players' commands and sends players their views. It knows no rules.

Start with `app` (the web application), then `service` (what it does), then `hub` (who follows which game).
"""
