"""The policy `planner`. Start with `command_choice`; it decides by a `move_plan`, which is made of a `network_plan` in a
`seat_situation`."""
