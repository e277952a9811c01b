"""Durable runs: their record, the engine that carries them, their workflow, requests and views."""
