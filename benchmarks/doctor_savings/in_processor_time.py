"""Runs a program under the doctor, whose stages are then told in seconds of processor time.

``python in_processor_time.py JOURNAL FILE``
"""

import runpy
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from coldwarm.doctor.record import jax_compiles, recorder

if __name__ == "__main__":
    journal, file = sys.argv[1:]
    jax_compiles._now_ns = time.process_time_ns
    recorder.begin(journal)
    sys.argv[:] = [file]
    runpy.run_path(file, run_name="__main__")
