"""Tables as environments for learning."""
