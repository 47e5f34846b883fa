"""Cases that nobody of this project wrote, read where they lie."""
