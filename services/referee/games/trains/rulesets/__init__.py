"""The rulesets of train games. A new one is a new value here, and a branch nowhere."""
