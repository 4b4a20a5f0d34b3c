"""Benchmarks behind `spade.evaluating.Suite`: packages in environments of their own, local data, our pool."""
