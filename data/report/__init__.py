"""The report: what the factory made, as HTML files a person reads in a browser, without network or scripts.

What a model wrote is hostile text: it reaches a page only through Jinja2's escaping, and the pages forbid scripts.
"""

from data.report.writing import write_report

__all__ = ["write_report"]
