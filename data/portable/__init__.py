"""Modules that are copied into exported packages: standard library only, nothing of ours imported."""
