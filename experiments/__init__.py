"""The experiments of the texts on which the optimizer rests, done again."""
