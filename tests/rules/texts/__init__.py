"""The rule pages sentence by sentence: what no other test is named by.

`test_shared_*.py` plays the sentences that usa, europe and marklin have in common, each on its own board;
`test_europe.py`, `test_marklin.py` and `test_trains.py` those that one page alone has. What the rule texts leave
open and the pages decide is listed in `decisions.py`; `test_decided.py` plays what no other test shows of it.
"""
