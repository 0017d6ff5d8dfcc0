"""How what a page shows is compared with what its blocks print."""

import doctest
import re

import pytest

DECIMAL = re.compile(r"\d+\.\d+")


class UpToLastDigits(doctest.OutputChecker):
    """Decimals may differ in their last digits, as they do between machines; everything else is compared."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        shown, printed = ([float(x) for x in DECIMAL.findall(text)] for text in (want, got))
        return DECIMAL.sub("#", want) == DECIMAL.sub("#", got) and printed == pytest.approx(shown, rel=2e-3)
