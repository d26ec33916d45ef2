"""Star joins under a memory bound: the data of Towne, Zhu, Zuzarte and Hou, and ways to join it."""
