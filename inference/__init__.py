"""Models from outside: one client for every OpenAI-compatible endpoint, and the servers we start ourselves."""
