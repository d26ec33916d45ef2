"""What the API shows of an engine: its objects as shapes of the wire."""
