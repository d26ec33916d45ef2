"""Where rows come from and where results go: feeds, sinks, and PostgreSQL."""
