"""Programs that mark answers inside the sandbox; each is a game whose actions are what is to be marked."""
