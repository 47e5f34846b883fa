"""Imported first by each program: has the rules imported in their compiled form, where one was built of these sources."""

from services.compiled_rules import prefer_compiled_rules

prefer_compiled_rules()
