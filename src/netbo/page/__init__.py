"""The page of a study: a live map for crews and managers, and the same in one file.

`netbo study serve` opens it; `write_page` and `explore` of answers and networks make the file.
"""

from netbo.page.report import Explored, explore, write_page

__all__ = ["Explored", "explore", "write_page"]
