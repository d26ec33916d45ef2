"""What the experiments on aggregation below joins share."""
