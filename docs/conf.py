"""The site: Markdown pages, the reference from the docstrings, the gallery from `examples`."""

import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "ext"))

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "netbo"
author = "The netbo developers"
copyright = author  # noqa: A001
release = version = PYPROJECT["version"]
html_baseurl = PYPROJECT["urls"]["Homepage"]  # a placeholder; see CONTRIBUTING

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "notebooks",
    "sections",
    "docstrings",
    "offline_math",
]
exclude_patterns = ["_build", "ext", "notebooks", "templates"]
templates_path = ["templates"]
default_role = "py:obj"  # `x` in a docstring: a link where it is a name of ours
suppress_warnings = [
    "autodoc.mocked_object",
    "ref.python",
]  # of BoTorch; a parameter's type `range` is Python's, not one of our attributes

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autosummary_ignore_module_all = False
autodoc_mock_imports = ["torch", "botorch", "gpytorch", "linear_operator"]  # environments of their own
napoleon_google_docstring = False
napoleon_use_rtype = False
add_module_names = False
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = "netbo"
html_static_path = ["static", "pictures"]  # an index shows the pictures of the README from here
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 60,
    "abort_on_example_error": True,
    "plot_gallery": True,
}
