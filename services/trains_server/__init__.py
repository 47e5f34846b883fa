"""The tournament server of the game "Trains": other people's players over TCP, in the protocol of docs/trains.md.

Start with `tcp_server`: sign-up, tournament, result. Players of the other side are not trusted: what they send is
read within bounds (`json_stream`, `call_answers`), and whoever fails is removed and harms nobody else.
"""
