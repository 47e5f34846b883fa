"""The tournament server of the game "Trains": other people's players over TCP, in the protocol of docs/how-to/trains.md.

Start with `tcp_server`: sign-up, tournament, result. Players of the other side are not trusted: what they send is
read within bounds (`peer_connection`, `protocol_calls`), and a player that fails is removed and harms nobody else.
"""
