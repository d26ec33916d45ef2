"""The runtime on Apache Spark: ticks through foreachBatch, operators on Arrow in the tasks."""
