"""The services. Whatever is imported of them, the rules come in the form that this process can have (docs/compiled.md)."""

from services.runtime.compiled_rules import prefer_compiled_rules

prefer_compiled_rules()
