"""What makes a game provable: sealed entries, tracked piles, the order of events, the view verifier."""
