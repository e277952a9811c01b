"""What pages show, put together for their templates."""
