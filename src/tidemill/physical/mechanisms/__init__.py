"""What several operators are made of: keys, ledgers, calendars, compiled loops."""
