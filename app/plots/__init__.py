"""Plots as SVG text, the same for terminal files, reports and pages.

The output is a function of its input: no date, no random identifiers. It carries a title and a description
for those who cannot see it, is drawn in the text colour of the page around it, and tells its curves apart by
stroke and marker as well as by colour, so that it survives a black-and-white print.
"""

from app.plots.cdf import PS_PER_MS, Curve, delta_q_cdf
from app.plots.series import Panel, Series, series_plot

__all__ = ["PS_PER_MS", "Curve", "Panel", "Series", "delta_q_cdf", "series_plot"]
