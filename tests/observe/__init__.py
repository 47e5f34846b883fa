"""The alert rules and the dashboard of deploy/observe: what they name exists, each fault raises its alert, and no
healthy run does. `record` makes the series that the tests run the rules over."""
