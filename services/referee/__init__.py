"""The referee: it takes commands, decides them by the rules, and appends entries. Start with `worker`, then `command_processor`."""
