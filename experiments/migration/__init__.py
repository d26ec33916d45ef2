"""What the comparison of ways to migrate is made of."""
