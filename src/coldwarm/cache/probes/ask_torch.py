"""Print what Inductor compiles with, and for, here."""

import hashlib
import json

import torch
from torch._inductor import config, cpp_builder, cpu_vec_isa

compiler = cpp_builder.get_cpp_compiler()
version = cpp_builder.get_compiler_version_info(compiler)
told = {
    "torch": torch.__version__,
    "compiler": compiler,
    "compiler's version": hashlib.sha256(version.encode()).hexdigest()[:16],
    "instructions": str(cpu_vec_isa.pick_vec_isa()),
    "threads": str(torch.get_num_threads()),
    "settings": config.get_hash().hex()[:16],
}
if torch.cuda.is_available():
    told |= {"device": torch.cuda.get_device_name(), "cuda": str(torch.version.cuda)}
print(json.dumps(told))
