"""Other people's forms of trains: board files, the class of AI-MAS, and cases that our own core answers and counts."""
