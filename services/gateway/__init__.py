"""The gateway: players' commands onto the streams, players' views off them. No rules here.

Start with `app` (the web), then `door` (what it does), then `hub` (who follows what).
"""
