"""Round trips with the programs that read our datasets, each in a virtual environment of its own."""
