"""Who follows which game, how far each follower is served, and the bytes that it is sent."""
