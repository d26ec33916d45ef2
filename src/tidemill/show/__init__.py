"""What is told of an engine: its objects as shapes of the wire."""
