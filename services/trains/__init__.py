"""Cases of other people's Trains systems, played by our own core: what it says must be what theirs say.

Start with `tally`: it reads a folder (`cases`), answers each case (`kinds`) and tells the tally.
"""
