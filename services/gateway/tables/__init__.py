"""Views folded into tables, legal commands and suggestions; other packages bring the rules."""
