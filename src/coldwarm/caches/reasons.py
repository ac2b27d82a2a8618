"""Reasons of caches: what cannot be controlled, why an entry cannot be read, or was missed."""

from coldwarm.caches.modes import owners
from coldwarm.contracts.reasons import Codes, declare

_ENTRIES = {
    "entry_damaged": "the file is damaged, or has a format that is not known",
    "entry_large": "the file, or what is packed in it, is larger than {most_bytes:size}",
    "entry_missing": "the index names a file with machine code that is not there",
    "entry_packed": "it is packed by {packed_by}, which is not installed beside coldwarm",
}
_DIFFERING = {
    "key_folder": "the path of the cache is a part of the key: it was filled at {kept}, and is now"
    " at {now}",
    "key_xla_caches": "XLA's own caches, whose path is a part of the key, were {kept} where it was"
    " filled, and are {now}",
    "key_option": "an option of XLA differs: {option} was {kept}, and is now {now}",
    "key_options": "{n_options:# option} of XLA differ, as they do between versions of jaxlib",
    "key_processor": "it was compiled for the processor {kept}, and is now compiled for {now}",
    "key_features": "it was compiled for a processor with other features: {feature_names}",
    "key_version": "it was kept by {framework} {kept}, and this is {now}",
    "key_setting": "a setting of torch.compile differs: {setting} was {kept}, and is now {now}",
    "key_build": "it was kept by another build or version of {framework}",
    "key_program": "the program is another one: its code, the shapes or types of its arguments, or"
    " a setting that changes what is computed",
    "key_unknown": "its operations, options and processor are the same, so that the key differs in"
    " what is not kept with it: the version of jaxlib, XLA_FLAGS as written, or the devices",
    "key_untold": "what is kept with the program does not tell in what the key differs",
    "key_unread": "the program that lies there cannot be read: {parts}",
    "key_not_compared": "the process wrote no program that could be compared with it",
    "key_elsewhere": "the program looks into another cache: {folder}",
    "key_unset": "{variable} is not set in the image, so that the program looks into no cache",
    "key_quick": "JAX keeps what takes {least_s:time} or more to compile",
    "key_never_written": "JAX has not kept it here: it calls back into Python, or the program sets"
    " what is kept",
    "key_absent": "no program of this name lies there",
    "key_absent_graph": "no graph with this key lies there, and what lies there does not tell in"
    " what the key differs",
}
_ADVICE = {
    "key_folder": "use it at the same path, or fill and use it with"
    " JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES=none",
    "key_xla_caches": "set JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES as it was: none for off",
    "key_option": "set XLA_FLAGS as it was when the cache was filled, or fill the cache again",
    "key_processor": "fill it on a machine with the same processor; or, with JAX, set"
    " XLA_FLAGS=--xla_cpu_max_isa=AVX2 in both places",
    "key_features": "fill it on a machine with the same features; or, with JAX, set"
    " XLA_FLAGS=--xla_cpu_max_isa=AVX2 in both places",
    "key_version": "fill it again with the version that uses it",
    "key_options": "fill it again with the version that uses it",
    "key_build": "fill it again with the version that uses it",
    "key_setting": "set it as it was when the cache was filled, or fill the cache again",
    "key_unknown": "fill it again with the version and the settings that use it",
    "key_untold": "fill it again where it is used",
    "key_program": "fill it again with the program that uses it",
    "key_elsewhere": "let the program leave the folder to the environment, or check that one",
    "key_unset": "write in the Dockerfile: ENV {variable}={folder}",
    "key_quick": "set JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 where the cache is filled",
    "key_absent": "run the program with this cache once, where it may write",
    "key_absent_graph": "fill it again with the program that uses it",
}
_OF_OWNERS = {code: words for one in owners().values() for code, words in one.words.items()}

declare(Codes({**_OF_OWNERS, **_ENTRIES, **_DIFFERING}, _ADVICE))
