"""The forms of what is stored and sent: rows, entries, the hash chain over them, and the names beside a log."""
