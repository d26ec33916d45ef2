"""The benchmark itself: Tidemill and what users would pick instead, over the same files.

One module per system; `run` goes through them one after the other, `table` shows the figures.
"""
