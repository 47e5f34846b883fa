"""Commands that only the trains have: their boards, verdicts on positions, and games with other people's programs."""
