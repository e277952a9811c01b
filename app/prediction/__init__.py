"""Prediction: plans, topology and traffic to ΔQ, before anything is pushed."""
