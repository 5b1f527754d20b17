"""Sphinx builds the site with this: see scripts/docs-site.sh."""

project = "vernier"
author = "the authors of vernier"
copyright = author  # noqa: A001  (Sphinx wants this name)
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
# As GitHub makes them, so that links hold in both places.
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
html_theme = "alabaster"
html_theme_options = {
    "description": "Does a model still compute the same?",
    "fixed_sidebar": True,
    "page_width": "1100px",
    "sidebar_width": "260px",
    "font_family": "sans-serif",
    "head_font_family": "sans-serif",
    "show_powered_by": False,
}
html_copy_source = False
html_show_copyright = False
highlight_language = "text"
