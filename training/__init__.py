"""How the shared policy learns. Torch lives only here and in in-process inference."""
