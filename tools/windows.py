"""Make the encoder of these changes: ``python -m tools.windows FOLDER``."""

import hashlib
import json
import shutil
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from relic_core.config import PROJECT
from relic_core.encoders.weights import encoder_digest

CHANGES = Path(__file__).resolve().parent / "measured" / "windows"
BEFORE = PROJECT / "relic_core" / "assets" / "weights" / "dense-relic"


def main(folder: Path) -> None:
    """Add the changes to the packaged dense-RELiC; `RELIC_TRAINED` can name the folder."""
    changes = np.load(CHANGES / "changes.npz")
    for side in ("claims", "passages"):
        (folder / side).mkdir(parents=True)
        layers = load_file(BEFORE / side / "layers.safetensors")
        for name, before in layers.items():
            steps, scale = changes[f"{side}/{name}"], changes[f"{side}/{name}/scale"]
            change = steps.reshape(len(steps), -1) * scale[:, None]
            layers[name] = (before + change.reshape(before.shape)).astype(np.float16)
        file = folder / side / "layers.safetensors"
        save_file(layers, file, {"format": "pt"})
        card = json.loads((BEFORE / side / "layers.json").read_text())
        card["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
        (folder / side / "layers.json").write_text(json.dumps(card, indent=2) + "\n")
    shutil.copy(CHANGES / "training.json", folder)
    card = json.loads((BEFORE / "encoder.json").read_text())
    card["digest"] = encoder_digest(str(folder / "claims"), str(folder / "passages"))
    (folder / "encoder.json").write_text(json.dumps(card, indent=2) + "\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to; RELIC_TRAINED can name it")
    main(parser.parse_args().folder)
