"""Cases of other people's Trains systems, answered by our own core (`case_kinds`) and counted (`cases`)."""
