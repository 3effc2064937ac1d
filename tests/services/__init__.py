"""Real services for tests: an Apache Kafka from Maven Central's jars, a redis-server from the system's packages."""
