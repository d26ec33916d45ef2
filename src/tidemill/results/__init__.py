"""The room for answers: the forms of results, and the sinks that they go to."""
