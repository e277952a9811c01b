"""Plots as SVG text, the same for terminal files, reports and pages.

The output is a function of its input: no date, no random identifiers. It carries a title and a description
for those who cannot see it, is drawn in the text colour of the page around it, and tells its curves apart by
stroke and marker as well as by colour, so that it survives a black-and-white print.
"""

from qosforge.plots.bars import Bar, ClassBars, bars_table, class_bars
from qosforge.plots.cdf import CdfPlot, delta_q_cdf
from qosforge.plots.curve import PS_PER_MS, Curve
from qosforge.plots.series import Bound, Panel, Published, Series, series_plot
from qosforge.plots.table import Table, TableCell, TableRow, plot_table

__all__ = [
    "PS_PER_MS",
    "Bar",
    "Bound",
    "CdfPlot",
    "ClassBars",
    "Curve",
    "Panel",
    "Published",
    "Series",
    "Table",
    "TableCell",
    "TableRow",
    "bars_table",
    "class_bars",
    "delta_q_cdf",
    "plot_table",
    "series_plot",
]
