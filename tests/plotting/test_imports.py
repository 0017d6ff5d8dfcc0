import subprocess
import sys


def test_the_package_does_not_load_matplotlib_until_pictures_are_asked_for():
    code = "import sys, netbo; assert 'matplotlib' not in sys.modules; import netbo.plotting"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
