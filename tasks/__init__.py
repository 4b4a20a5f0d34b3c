"""Prefect around the rules: retries, caching, names, artifacts. No rule of the method lives here."""
