"""Files that people name: read within bounds, parsed strictly, written whole."""
