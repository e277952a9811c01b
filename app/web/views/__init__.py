"""What pages show, made ready for their templates."""
