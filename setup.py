"""What a wheel has beside its packages: the pins of requirements files, and the app's script and pages as data."""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PROJECT = Path(__file__).resolve().parent
EXTRAS = ("cluster", "mcp", "signin")
SHIPPED = ("app.py", "pages/*.py", "docs/*.md", "docs/pictures/*.png", ".streamlit/config.toml")
APP = [str(path.relative_to(PROJECT)) for files in SHIPPED for path in PROJECT.glob(files)]


class BuildWithApp(build_py):
    """Puts the app where `relic_core.config.APP` looks for it, and what the larger model is fetched by."""

    def run(self) -> None:
        """Build the packages, then copy."""
        super().run()
        built = Path(self.build_lib)
        targets = {name: built / "relic_ui" / "_app" / name for name in APP}
        targets["requirements-large.txt"] = built / "relic_core" / "assets" / "requirements-large.txt"
        for name, target in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROJECT / name, target)


def pins(file: str) -> list[str]:
    """List the pins of a requirements file."""
    return re.findall(r"(?m)^[\w.-]+==[\w.]+", (PROJECT / file).read_text(encoding="utf-8"))


setup(
    install_requires=pins("requirements.txt"),
    extras_require={name: pins(f"requirements-{name}.txt") for name in EXTRAS},
    cmdclass={"build_py": BuildWithApp},
)
