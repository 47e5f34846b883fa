"""Queues and who reads them: consumer groups, commands, bot tasks, dead letters, the membership of workers."""
