"""The web pages: server-rendered, a thin layer over the same functions as the API."""
