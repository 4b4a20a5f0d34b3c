"""The parts of benchmarks/coevolution.py: a world of blueprints, arms, runs, and their report."""
