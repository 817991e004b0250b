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
    from relic_core.services.workbench import Workbench


class Dataset:
    """The data set of a workbench."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    def split(self, progress: Progress = silent) -> SplitSummary:
        """Part all kept windows and all pairs into dev, test and training, and keep that, with examples of each.

        What was parted before is replaced. Run it after mining, judging, or adding works and benchmarks.

        Raises
        ------
        BadBenchmark
            Data of a benchmark, or the list of held-out runs, are damaged.
        StoreReadOnly
            The store cannot be written.
        """
        from relic_core.services.dataset import splitting

        return splitting.split(self._workbench, progress)

    def leakage(self, progress: Progress = silent) -> LeakReport:
        """Look for leaks in what is marked for training, and for passages in two splits; trusts no mark on training.

        Raises
        ------
        NotFound
            Nothing has been parted yet.
        BadBenchmark
            As `split`.
        """
        from relic_core.services.dataset import splitting

        return splitting.leakage(self._workbench, progress)

    def statistics(self, of: str = "store", progress: Progress = silent) -> Statistics:
        """Count the windows of a set: RELiC's Table 1, section A.3 and Figure 2.

        Parameters
        ----------
        of : str
            A name of `counting.SETS`: "store" for all quotations of one to five sentences that have a split, or that
            are kept where nothing was parted yet; or a public-domain benchmark.
        progress : Progress
            Told how many works have been read.

        Raises
        ------
        BadRequest
            There is no such set.
        NotFound
            There is nothing to count; or as the benchmark.
        BadBenchmark
            As the benchmark.
        """
        from relic_core.services.dataset import counting

        return counting.statistics(self._workbench, of, progress)

    def stale(self) -> tuple[str, ...]:
        """Say that the splits are older than what they part; nothing where they are not, or there are none."""
        from relic_core.services.dataset import splitting

        return splitting.stale(self._workbench)

    def titles(self) -> dict[str, str]:
        """Say what works and sources are called, by the ids and slugs that statistics name them by."""
        from relic_core.services.dataset import counting

        return counting.titles(self._workbench)

    def manifest(
        self, sources: Sequence[Path], folder: Path | None = None, progress: Progress = silent
    ) -> ManifestSummary:
        """Write the manifest of the dev and test windows.

        Parameters
        ----------
        sources : sequence of Path
            Files, folders and archives where the mined sources are; they are known again by their hashes.
        folder : Path, optional
            Where it is written; below the data folder where not given. What ships with the program is written only by
            who names its place.
        progress : Progress
            Told how many sources have been read.

        Raises
        ------
        NotFound
            There are no dev and test windows, or a source is not among the files.
        BadBenchmark
            A window cannot be cut out of its source to the letter.
        """
        from relic_core.services.dataset import manifest

        return manifest.make(self._workbench, sources, folder, progress)

    def rebuild(
        self, sources: Sequence[Path] = (), *, offline: bool = False, progress: Progress = silent
    ) -> RebuildSummary:
        """Cut the windows of the manifest that ships with the program out of their sources again.

        Parameters
        ----------
        sources : sequence of Path
            Files, folders and archives to look in first.
        offline : bool
            Fetch nothing from Project Gutenberg.
        progress : Progress
            Told how many sources have been read.

        Raises
        ------
        NotFound
            There is no manifest.
        BadBenchmark
            It is damaged.
        StoreReadOnly
            The data folder cannot be written.
        """
        from relic_core.services.dataset import rebuilding

        return rebuilding.rebuild(self._workbench, sources, offline=offline, progress=progress)
