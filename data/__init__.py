"""What is stored and how it leaves: corpus, catalog, memory, expectations, exporters. Code, not files."""
