"""Scripts for another interpreter, beside a benchmark's package; of ours they import nothing but `serving`."""
