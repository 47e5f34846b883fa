"""Secrecy (P5): the non-interference gate, the deals and the shuffle behind it, and attempts to guess."""
