"""The embedded engine: its process, its folder, its users."""
