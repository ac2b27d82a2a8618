"""Print what Numba and LLVM compile for here."""

import json

import numba
from numba.core.registry import cpu_target

_, processor, features = cpu_target.target_context.codegen().magic_tuple()
told = {
    "numba": numba.__version__,
    "processor": processor,
    "features": features,
}
print(json.dumps(told))
