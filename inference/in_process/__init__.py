"""A model of transformers in this process: exact token ids and log-probabilities, many calls at once."""
