"""Print what Numba and LLVM compile for here."""

import json

import numba
from llvmlite import binding

told = {
    "numba": numba.__version__,
    "llvmlite": ".".join(map(str, binding.llvm_version_info)),
    "processor": numba.config.CPU_NAME or binding.get_host_cpu_name(),
    "features": binding.get_host_cpu_features().flatten()
    if numba.config.CPU_FEATURES is None
    else numba.config.CPU_FEATURES,
}
print(json.dumps(told))
