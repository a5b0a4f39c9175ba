"""The site: Sphinx on the Markdown pages of this folder, the docstrings and ``examples/``. ``make docs`` builds it."""

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_site"), str(ROOT)]

import lowdim  # noqa: E402

project = "lowdim"
author = "The lowdim developers"
copyright = "The lowdim developers, BSD-3-Clause"
version = release = lowdim.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "reference",  # _site/reference.py: a page for every public name
    "repository",  # _site/repository.py: links of the Markdown pages to files outside this folder
    "try_page",  # _site/try_page.py: the page that computes
    "typeset",  # _site/typeset.py: formulas, and MathJax beside the pages
    "assistants",  # _site/assistants.py: llms.txt and llms-api.txt
    "results",  # _site/results.py: charts from benchmarks/results*.md
]
exclude_patterns = ["_build", "_site", "**/GALLERY_HEADER.rst", "sg_execution_times.rst"]
suppress_warnings = [
    "config.cache",  # functions in sphinx_gallery_conf
]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc states the types
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # the reference lists methods itself
numpydoc_xref_param_type = False
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "dollarmath"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_style = "friendly"
mathjax_path = "tex-svg.js"

# Scripts whose data or packages are not here are shown with the picture kept in the repository.
NEEDS_FILES = re.compile(r'data\.load\("(faces|mnist|coil20)"\)')


def runs_here(script: Path) -> bool:
    """Whether the script has what it needs on this machine."""
    text = script.read_text(encoding="utf-8")
    if NEEDS_FILES.search(text) and not os.environ.get("LOWDIM_DATA"):
        return False
    return not re.search("Autoencoder|Parametric", text) or find_spec("torch") is not None


sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "ignore_pattern": r"__main__\.py|demo\.py",
    "filename_pattern": "|".join(rf"{p.stem}\.py" for p in sorted(ROOT.glob("examples/*.py")) if runs_here(p)),
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 30,
    "download_all_examples": True,
    "first_notebook_cell": "# lowdim must be installed: pip install lowdim-*.whl\n%matplotlib inline",
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"lowdim {release}"
html_static_path = ["_site/static"]
html_css_files = ["lowdim.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "start": [], "which_method": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "monokai",
}
