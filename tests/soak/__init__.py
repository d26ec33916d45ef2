"""Long runs: a graph under a bound of memory while its streams burst."""
