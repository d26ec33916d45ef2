"""What a plan will cost: the size of streams between operators, memory and processing."""
