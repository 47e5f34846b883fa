"""What a service counts and measures about itself, and the port where Prometheus reads it; `declared` has every metric."""
