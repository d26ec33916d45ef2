"""Aggregation below joins: what an early aggregate computes, what a plan costs, which to take.

A mask says where the early aggregates stand: one truth value per input of the join. Pure numbers
and names; the plans themselves are rewritten in `optimize.rules`.
"""
