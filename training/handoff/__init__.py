"""Stored batches for other trainers: programs that read a batch folder and need nothing of the factory's."""
