"""The benchmark itself: Tidemill and what users would pick instead, over the same rows.

- Systems: `tidemill_spark` (with the `floor`), `structured`, `flink` (its `flink_job`), `inprocess`
- Its process: `serving` runs in it, `worker` is its other end; `systems` lists them all
- A run: `command` reads options; `run` and `growth` choose what is measured, `runner` measures it
  on `data`, perhaps with larger `windows`
- What comes out: `measure`, `answers`, `goals`, `phases`; shown by `table`, `plot` and `report`
"""
