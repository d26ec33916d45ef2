"""Rankings over incomplete streams: the data of Haghani, Michel and Aberer, and measures."""
