"""Cases of other people's Trains systems, answered by our own core, which has to give the expected answers.

Start with `report`: it reads a folder (`cases`), answers each case (`case_kinds`) and counts the results.
"""
