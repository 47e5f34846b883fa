"""The same promises on a cluster: six engines on loopback, of which one dies or hands a slot over."""
