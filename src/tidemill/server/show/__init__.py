"""What a server tells: plain values made of the engine's objects, for JSON."""
