"""What makes a game provable: sealed entries, tracked piles, the order of events, the viewer's verifier."""
