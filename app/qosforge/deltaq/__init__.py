"""ΔQ: distributions of delay and loss, objectives on them, and verdicts with their confidence.

Nothing is imported here: an intent needs the names of presets, and not the numerics that judge.
"""
