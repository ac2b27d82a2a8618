"""C++ and CUDA modules that ``torch.utils.cpp_extension`` builds.

It counts nothing. A build that finds its files unchanged loads what lies there.
"""

from coldwarm.caches import Owner, by_files

OWNER = Owner(
    name="extensions",
    words={
        "extensions_by_files": "extensions: torch.utils.cpp_extension counts nothing; its files"
        " alone are judged",
    },
    of_function=4,
    holds_programs=True,
    folders={"TORCH_EXTENSIONS_DIR": ""},
    judge=by_files,
)
