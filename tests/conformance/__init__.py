"""Cases that nobody of this project wrote, read from beside the repository."""
