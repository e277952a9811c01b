"""The database: one connection pool for SQLite or PostgreSQL, what all tables share, and the migrations."""
