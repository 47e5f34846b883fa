"""Where everything is put together: the composition root, and all services on one machine."""
