"""The data set: mined windows and pairs parted into splits, checked for leaks, counted, and published as a manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relic_core.ports import silent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from relic_core.mining.statistics import Statistics
    from relic_core.ports import Progress
    from relic_core.services.dataset.manifest import ManifestSummary
    from relic_core.services.dataset.rebuilding import RebuildSummary
    from relic_core.services.dataset.splitting import LeakReport, SplitSummary
    from relic_core.wiring import App


class Dataset:
    """The data set of an app."""

    def __init__(self, app: App) -> None:
        self._app = app

    def split(self, progress: Progress = silent) -> SplitSummary:
        """Part all kept windows and all pairs into dev, test and training, and keep that, with examples of each.

        What was parted before is replaced. Run it after mining, judging, or adding works and benchmarks.

        Raises BadBenchmark: data of a benchmark, or the list of held-out runs, are damaged.
        Raises StoreReadOnly: the store cannot be written.
        """
        from relic_core.services.dataset import splitting

        return splitting.split(self._app, progress)

    def leakage(self, progress: Progress = silent) -> LeakReport:
        """Look for leaks in what is marked for training, and for passages in two splits; trusts no mark on training.

        Raises NotFound: nothing has been parted yet.
        Raises BadBenchmark: as `split`.
        """
        from relic_core.services.dataset import splitting

        return splitting.leakage(self._app, progress)

    def statistics(self, of: str = "store", progress: Progress = silent) -> Statistics:
        """Count the windows of a set: RELiC's Table 1, section A.3 and Figure 2.

        - `of`: a name of `counting.SETS`: "store" for all quotations of one to five sentences that have a split, or
          that are kept where nothing was parted yet; or a public-domain benchmark.
        - `progress`: told how many works have been read.

        Raises BadRequest: there is no such set.
        Raises NotFound: there is nothing to count; or as the benchmark.
        Raises BadBenchmark: as the benchmark.
        """
        from relic_core.services.dataset import counting

        return counting.statistics(self._app, of, progress)

    def stale(self) -> tuple[str, ...]:
        """Say that the splits are older than what they part; nothing where they are not, or there are none."""
        from relic_core.services.dataset import splitting

        return splitting.stale(self._app)

    def titles(self) -> dict[str, str]:
        """Say what works and sources are called, by the ids and slugs that statistics name them by."""
        from relic_core.services.dataset import counting

        return counting.titles(self._app)

    def manifest(
        self, sources: Sequence[Path], folder: Path | None = None, progress: Progress = silent
    ) -> ManifestSummary:
        """Write the manifest of the dev and test windows.

        - `sources`: files, folders and archives where the mined sources are; they are known again by their hashes.
        - `folder`: where it is written; below the data folder where not given. What ships with the program is written
          only by who names its place.
        - `progress`: told how many sources have been read.

        Raises NotFound: there are no dev and test windows, or a source is not among the files.
        Raises BadBenchmark: a window cannot be cut out of its source to the letter.
        """
        from relic_core.services.dataset import manifest

        return manifest.make(self._app, sources, folder, progress)

    def rebuild(
        self, sources: Sequence[Path] = (), *, offline: bool = False, progress: Progress = silent
    ) -> RebuildSummary:
        """Cut the windows of the manifest that ships with the program out of their sources again.

        - `sources`: files, folders and archives to look in first.
        - `offline`: fetch nothing from Project Gutenberg.
        - `progress`: told how many sources have been read.

        Raises NotFound: there is no manifest.
        Raises BadBenchmark: it is damaged.
        Raises StoreReadOnly: the data folder cannot be written.
        """
        from relic_core.services.dataset import rebuilding

        return rebuilding.rebuild(self._app, sources, offline=offline, progress=progress)
