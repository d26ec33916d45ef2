"""Rankings: which queries ask for the first objects by a score, and how to answer them best."""
