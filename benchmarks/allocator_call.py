"""Times a NumPy call in a process that has loaded hardly anything.

``python allocator_call.py kept|as-is [MODULE …]`` loads the modules after its inputs are made,
and prints the median seconds of a call, and its page faults.
"""

import resource
import sys
import time
from importlib import import_module

from numpy.random import default_rng

from coldwarm.worker.loop import keep_freed_memory
from coldwarm.workloads import mlp_train_step

SIZE, CALLS = 128, 1500

if __name__ == "__main__":
    if sys.argv[1] == "kept":
        keep_freed_memory()
    arguments = mlp_train_step.inputs(default_rng(0), SIZE, "float32")
    function = mlp_train_step.for_numpy(lambda built: built)
    for name in sys.argv[2:]:
        import_module(name)
    samples = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        begin = time.perf_counter()
        function(*arguments)
        samples.append(time.perf_counter() - begin)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    print(sorted(samples)[CALLS // 2], faults / CALLS)
