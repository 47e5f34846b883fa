"""Following games: who follows which, how far each follower is served, and the bytes that it is sent."""
