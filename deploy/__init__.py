"""What builds, runs and describes a release: the image, the engine's users, generated pages, licences, compiled rules."""
