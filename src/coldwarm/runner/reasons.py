"""What is said of processes, caches and the machine."""

_ONCE = "build the jitted function once, outside of the function that is called"
_QUOTA = "measure with a larger CPU quota (cpu.max of its control group, --cpus of its container)"

REASONS = {
    "correctness_gate": "its answer is wrong{parts:place}",
    "not_reproducible": "its answer is another one in each process, so it cannot be checked",
    "reference_not_reproducible": "it cannot be checked, as the answer of {candidate}, which it is"
    " held against, changes from call to call",
    "gpu_unavailable": "no GPU of the kind that it needs is usable here",
    "missing_dependency": "{name} is not installed",
    "not_measured": "not measured: the run ended before {mode_names}",
    "not_proved": "not proved: no valid process in {mode_names} ({parts})",
    "timeout": "timeout: no answer within {limit_s:g} s",
    "exception": "{error}: {text}",
    "exited": "exit status {status} before a result",
    "signal": "ended by the signal {name}",
    "killed": "killed by the signal SIGKILL; out of memory?",
    "pipe_closed": "closed its pipe without a result",
    "output_flood": "printed more than {limit_bytes:size}",
    "garbage": "garbage on the pipe: {text}",
    "malformed": "malformed {message!r} message: {text}",
    "no_plain_folder": "{folder} has a blank, a quote or another character that takes the command"
    " of the C++ compiler apart, which torch.compile runs there; and no link to it can be made"
    " under the folders for temporary files",
    "setting_changes": "with {setting_names} {backend} is another thing than its name says, and"
    " its figures would be taken for those of {backend} as it comes",
    "settings": "measured with {setting_names}",
    "reference_failed": "no reference answer: {parts}",
    "making_failed": "could not be made ahead of time: {parts}",
    "no_artifact": "the backend wrote no file, so there is nothing to load",
    "other_inputs": "its inputs are not those of the other candidates; inputs() must depend on rng"
    " alone",
    "contradicted": "{mode}: {parts}",
    "no_cache": "a fresh process; this backend keeps no cache",
    "start_not_judged": "nothing is asked of the start",
    "uncounted": "{owner}: no count of {count_names}",
    "files_before": "{owner}: {n_files:# file} before the spawn",
    "foreign_hits": "{owner}: {n_hits:# hit} in an empty cache, and not of its own entries",
    "not_compiled": "{owner}: nothing was compiled",
    "kept_elsewhere": "{owner}: {n_entries:# program} compiled or written, and no file in the"
    " private directories",
    "cache_not_asked": "{owner}: {n_compiles:# compile} and no miss: the cache was not asked",
    "compiled_again": "{owner}: {n_hits:# hit}, and yet {n_files:# new file}"
    " ({suffix_names}): compiled again",
    "not_from_cache": "{owner}: {n_misses} missed, {n_bypasses} bypassed, {n_compiles} compiled"
    " with a filled cache",
    "no_hits": "{owner}: no hits",
    "new_files": "{owner}: {n_files:# new file}",
    "cache_used": "{owner}: {n_requests:# request}, {n_compiles:# compile},"
    " {n_files:# file} where nothing was left to compile",
    "cache_not_used": "{owner}: not used",
    "empty_before": "{owner}: empty before, {n_hits:# hit} of its own entries,"
    " {n_compiles:# compile}",
    "filled_by_default": "{owner}: as its own settings fill it, {n_files:# file} before,"
    " {n_hits:# hit}, {n_compiles:# compile}",
    "same_by_default": "the framework's own settings would have kept the same",
    "not_measured_by_default": "the run ended before it was measured, or nothing showed what the"
    " framework's own settings keep",
    "not_filled": "caches are not filled in this mode",
    "filled_before": "{owner}: {n_files:# file} before, {n_hits:# hit}, no miss",
    "none_new": "{owner}: {n_files:# file} before, none new",
    "written": "{owner}: empty before, {n_files:# file} written",
    "none_written": "{owner}: the process wrote none, so it used some",
    "as_installed": "{owner}: as installed",
    "loaded": "{owner}: loaded {n_files:# file} of {size_bytes:size}, made ahead of time",
    "no_warm_block": "no warm block was measured",
    "blocks_uncounted": "{n_blocks:# block} without a count of compiles{parts:place}",
    "came_unwatched": "{framework} was loaded in a way that could not be followed, so that nobody"
    " counted what it compiled until then",
    "listeners_removed": "the program removed the listeners that count what {framework} compiles",
    "caches_moved": "the program moved a cache away from the folder that it was given:"
    " {setting_names}",
    "files_of_earlier": "{owner}: it read {n_files:# file} that an earlier process of this"
    " program wrote ({file_names})",
    "files_left_by_earlier": "{owner}: an earlier process of this program wrote {file_names}, and"
    " it did not",
    "files_own": "{owner}: it read none that an earlier process wrote",
    "files_without": "{owner}: it was started without {file_names}, which it makes by itself, and"
    " read none that an earlier process wrote",
    "files_hidden": "the program makes {file_names} by itself; each start with empty caches was"
    " without it",
    "files_untried": "the program read {file_names}, there before; whether it makes it by itself"
    " was not found out",
    "files_left": "{owner}: {n_files:# file} in its home and cache folder before",
    "files_unseen": "files: what a child process opens, or a library in C, is not seen",
    "no_new_header": "{owner}: C++ was compiled for {n_compiles:# graph}, and no precompiled"
    " header is new: one from elsewhere was used",
    "caches_controlled": "caches in folders of each process's own: {owner_names}, and temporary"
    " files",
    "own_memo": "what a function, or a library that coldwarm does not know, keeps on disk by"
    " itself is empty only as far as it was seen",
    "faster_than_inspected": "the first call took {cold_s:time} where the inspection's took"
    " {inspected_s:time}: something that it keeps by itself may not have been empty",
    "extensions_by_files": "extensions: torch.utils.cpp_extension counts nothing; its files alone"
    " are judged",
    "compiled_in_window": "{n_programs:# program} compiled in the warm window",
    "every_call_compiled": "every call compiled: {n_programs:# program} in {n_calls:# call}",
    "second_call_compiled": "every call compiles: a second one with the same arguments compiled"
    " {n_programs:# program}",
    "nothing_compiled": "0 compiles in {n_blocks:# block}",
    "nothing_compiled_since": "{n_programs:# program} compiled during the warm-up, and none"
    " in the {n_calls:# call} after it",
    "no_glibc": "the C library is not glibc, whose allocator alone can be taught to keep memory",
    "memory_returned": "its memory goes back to the system after each call, which then costs"
    " {n_faults:# page fault}; where it is kept, a call is {gain_ratio:.3g} times as"
    " fast",
    "memory_may_be_returned": "a call costs {n_faults:# page fault}, and too little was"
    " measured to tell whether keeping freed memory makes it faster",
    "few_page_faults": "a call costs {n_faults:# page fault}: there is nothing to gain",
    "memory_not_compared": "no process that keeps memory was measured",
    "answers_kept": "with other numbers of the same shapes a call takes {other_s:time}, with the"
    " same ones again {usual_s:time}: something is kept from call to call",
    "slow_after_pause": "after a pause a call takes {other_s:time}, right after another"
    " {usual_s:time}",
    "collecting": "a call of {usual_s:time} costs another {collecting_s:time} in Python's garbage"
    " collector, which is off while calls are timed",
    "no_other_arguments": "it has no arguments",
    "unvaried": "coldwarm can make no other data of it",
    "of_argument": "{name}: {parts}",
    "untried": "not tried with other data: {parts}",
    "partly_tried": "tried with other data in {argument_names}, not in {other_names} ({parts})",
    "ignores_arguments": "with other data in {argument_names} its answer stays as it was, and the"
    " right one does not",
    "answer_stays": "with other data its answer was the same: it does not depend on them, or it is"
    " that of an earlier call",
    "wrong_for_others": "with other data in {argument_names} its answer is wrong: {parts}",
    "unlike_for_others": "with changed data in {argument_names}, which it may not be made for, its"
    " answer is not the reference's: {parts}",
    "constants_folded": "compiled once and for all: {program_names} computes from arrays that it"
    " holds as constants, and XLA has done that while compiling, so that a call does next to"
    " nothing",
    "no_other_answers": "the reference gave no answer to other data that could be compared",
    "other_data_differ": "its arguments are not those of the reference",
    "no_reference": "there is no other function to hold them against",
    "calls_too_long": "a call takes {call_s:time}, too long for others beside those that are timed",
    "collector_off": "the program has switched off Python's garbage collector",
    "bytecode_as_installed": "Python bytecode is as installed in every mode but first_ever",
    "pages_as_left": "file pages are as the machine left them in every mode but first_ever",
    "pages_by_advice": "first_ever drops file pages by advice to the kernel, which may keep pages"
    " that are mapped by another process; bytes read from storage are published beside it",
    "cuda_uncounted": "cuda: the driver reports no hits or misses; its cache is judged by the"
    " files in it",
    "cuda_as_left": "cuda: clocks, persistence mode and what the driver holds are as the machine"
    " left them",
    "cuda_lazy": "cuda: kernels are loaded on first use where CUDA_MODULE_LOADING is lazy, the"
    " default",
    "inductor_compiler": "inductor: the C++ compiler and the libraries it links are as the machine"
    " left them",
    "inductor_preprocessor": "inductor: a filled cache still runs the C++ preprocessor and a test"
    " of vector instructions",
    "jax_cache_key": "JAX: with a cache directory set, a first call also makes the cache key and,"
    " where it compiles, writes the entry; both are inside the compile part",
    "numba_config": "numba: a file .numba_config.yaml in the working directory, if there is one,"
    " is obeyed",
    "made_shortly_before": "what was made ahead of time was written on this machine shortly"
    " before: its file is in memory, except in first_ever, and fits this very processor",
    "left_out": "left out as private (--leave-out-private)",
    "not_told": "{by} does not tell it",
    "not_yet_read": "read from the first phase of the worker on",
    "not_bound": "it ran wherever the system put it",
    "persistent_only": "measured in persistent processes only",
    "synchronous": "calls return finished results",
    "parts_exceed": "the parts, {parts_s:.4g} s together, exceed the call, {whole_s:.4g} s",
    "inputs_not_reached": "no process came as far as making the inputs",
    "warm_not_asked": "the warm regime was not measured",
    "interrupted": "the run was interrupted",
    "foreign_cpu": "other processes used {foreign_processors:.2g} processors",
    "foreign_cpu_warm": "other processes used {foreign_processors:.2g} processors during warm"
    " calls",
    "steal": "the host took {steal_share:.1%} of the processor time",
    "throttled": "the CPU quota throttled it for {throttled_s:.3g} s",
    "throttled_warm": "the CPU quota throttled it for {throttled_s:.3g} s during warm calls",
    "group_unseen": "its own control group cannot be read from here",
    "thermal": "{n_throttles:# thermal throttle}",
    "switches": "{switches_per_s:.0f} involuntary switches a second",
    "budget_short": "the time budget of {budget_s:time} is too short for a verdict:"
    " {n_rounds:# round} of all candidates take about {needed_s:time}",
    "budget_ended": "the time budget ended while {process} ran",
    "line_left_out": "journal line {n_line}: {text}; left out",
    "no_control_groups": "no control groups on this system",
    "unlimited": "unlimited",
    "no_frequency_policy": "the system does not show a frequency policy (common in virtual"
    " machines)",
    "not_on_path": "no {program} on PATH",
    "program_failed": "{program} failed: {text}",
    "no_answer": "{program} did not answer within {limit_s:g} s",
    "not_understood": "the answer of {program} was not understood: {text}",
    "no_driver": "not looked for: no NVIDIA driver here",
}
ADVICE = {
    "not_reproducible": "seed its random numbers (such as numpy.random.default_rng(0)), or give"
    " --no-check",
    "reference_not_reproducible": "seed the random numbers of {candidate}, or name another one"
    " first",
    "no_plain_folder": "choose another --out-dir, or set TMPDIR to a folder without such a name",
    "setting_changes": "unset it; coldwarm bench measures a function of your own as it is set up,"
    " and names the setting beside its figures",
    "came_unwatched": "import it with an import statement, and put no finder before Python's own",
    "listeners_removed": "do not clear them while it is measured",
    "caches_moved": "leave that to the environment, or give --warm-only",
    "files_of_earlier": "let the program keep it in its cache folder (XDG_CACHE_HOME), or give"
    " --warm-only",
    "no_new_header": "leave tempfile.tempdir and TMPDIR as they are",
    "every_call_compiled": _ONCE,
    "second_call_compiled": _ONCE,
    "answers_kept": "quote the figure as that of a repeated call, or let a factory make what is"
    " called without what it keeps",
    "slow_after_pause": "quote the figure for calls in a row alone",
    "collecting": "add it, or quote the figure without it as such",
    "untried": "give the data as arguments of the function, for calls with other data to be made",
    "unlike_for_others": "let a factory draw the data, or give them by --input, if it is to answer"
    " for any",
    "constants_folded": "give the arrays as arguments of the jitted function",
    "throttled": _QUOTA,
    "throttled_warm": _QUOTA,
}
PARAMETERS = {
    "setting_changes": "backend setting_names",
    "memory_returned": "gain_ratio n_faults",
    "collecting": "collecting_s usual_s",
    "budget_short": "budget_s needed_s n_rounds",
}
