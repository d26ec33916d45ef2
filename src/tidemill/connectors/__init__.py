"""Where rows come from and where results go: feeds, sinks, PostgreSQL and Kafka."""
