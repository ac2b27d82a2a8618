"""Files of the CUDA driver, and of kernels that PyTorch compiles at run time.

The driver compiles kernels that a library ships as PTX, and keeps the result. It counts
nothing, and where a library ships machine code for the GPU at hand there is nothing to keep:
an empty directory after a run is an answer and no fault.
"""

from coldwarm.caches import Owner, by_files

OWNER = Owner(
    name="cuda",
    words={
        "cuda_uncounted": "cuda: the driver reports no hits or misses; its cache is judged by the"
        " files in it",
        "cuda_as_left": "cuda: clocks, persistence mode and what the driver holds are as the"
        " machine left them",
        "cuda_lazy": "cuda: kernels are loaded on first use where CUDA_MODULE_LOADING is lazy, the"
        " default",
    },
    holds_programs=True,
    folders={"CUDA_CACHE_PATH": "driver", "PYTORCH_KERNEL_CACHE_PATH": "kernels"},
    variables={"CUDA_CACHE_DISABLE": "0", "USE_PYTORCH_KERNEL_CACHE": "1"},
    judge=by_files,
)
