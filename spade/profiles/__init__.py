"""Settings by name: one TOML file a profile."""
