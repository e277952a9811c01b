"""The intent language: models, the reader of policies with positions, the application catalogue."""
