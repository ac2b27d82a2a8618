"""Texts about processes, caches, the machine, frameworks and a user's own functions."""

from coldwarm.contracts.reasons import Codes, declare

_ONCE = "build the jitted function once, outside of the function that is called"
_OR_SYNC = "or name what waits for it: --sync PACKAGE:FUNCTION (sync= in Python)"
_QUOTA = "measure with a larger CPU quota (cpu.max of its control group, --cpus of its container)"

_REASONS = {
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
    "helpers_go_on": "it has started a process of another group, which could not be held while"
    " the others had their turn",
    "waits_in_turns": "it waited for something else in {n_waits} of {n_turns} turns, and that goes"
    " on while it is held",
    "output_flood": "printed more than {limit_bytes:size}",
    "garbage": "garbage on the pipe: {text}",
    "malformed": "malformed {message!r} message: {text}",
    "no_plain_folder": "{folder} has a blank, a quote or another character that breaks the"
    " compiler command of torch.compile, and no link to it can be made in the folders for"
    " temporary files",
    "setting_changes": "{setting_names} changes what {backend} does, so that its figures would be"
    " misread",
    "settings": "measured with {setting_names}",
    "reference_failed": "no reference answer: {parts}",
    "making_failed": "could not be made ahead of time: {parts}",
    "no_artifact": "the backend wrote no file, so there is nothing to load",
    "other_inputs": "its inputs are not those of the other candidates; inputs() must depend on rng"
    " alone",
    "contradicted": "{mode}: {parts}",
    "no_cache": "a fresh process; this backend keeps no cache",
    "nothing_left": "it left no file in any cache, so that a start with filled caches is the same",
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
    "no_new_header": "{owner}: C++ was compiled for {n_compiles:# graph}, and no precompiled"
    " header is new: one from elsewhere was used",
    "caches_controlled": "caches in folders of each process's own: {owner_names}, and temporary"
    " files",
    "own_memo": "what a function, or a library unknown to coldwarm, keeps on disk is empty only"
    " where coldwarm saw it",
    "faster_than_inspected": "the first call took {cold_s:time} here and {inspected_s:time} when"
    " it was tried: it may keep something on disk, or the machine was busy then",
    "compiled_in_window": "{n_programs:# program} compiled in the warm window",
    "every_call_compiled": "every call compiled: {n_programs:# program} in {n_calls:# call}",
    "second_call_compiled": "every call compiles: a second one with the same arguments compiled"
    " {n_programs:# program}",
    "nothing_compiled": "0 compiles in {n_blocks:# block}",
    "nothing_compiled_since": "{n_programs:# program} compiled during the warm-up, and none"
    " in the {n_calls:# call} after it",
    "no_glibc": "the C library is not glibc: only its allocator can be set to keep memory",
    "memory_returned": "{gain_ratio:.3g} times as fast where freed memory is kept; now it goes back"
    " to the system after each call, which then costs {n_faults:# page fault}",
    "memory_may_be_returned": "may be faster where freed memory is kept; a call costs"
    " {n_faults:# page fault}, and too little was measured to tell",
    "few_page_faults": "a call costs {n_faults:# page fault}: there is nothing to gain",
    "memory_not_compared": "no process that keeps memory was measured",
    "answers_kept": "something is kept from call to call; with other numbers of the same shapes a"
    " call takes {other_s:time}, with the same ones again {usual_s:time}",
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
    "other_settings": "the other candidate has changed settings or imported a framework",
    "calls_too_long": "a call takes {call_s:time}, too long for others beside those that are timed",
    "collector_off": "the program has switched off Python's garbage collector",
    "pages_as_left": "file pages are as the machine left them in every mode but first_ever",
    "pages_by_advice": "first_ever drops file pages by advice to the kernel, which may keep pages"
    " that are mapped by another process; bytes read from storage are published beside it",
    "left_out": "left out as private (--leave-out-private)",
    "not_told": "{by} does not report it",
    "not_yet_read": "read from the first phase of the worker on",
    "not_bound": "not bound to processors",
    "persistent_only": "measured in persistent processes only",
    "synchronous": "calls return finished results",
    "parts_exceed": "the parts, {parts_s:.4g} s together, exceed the call, {whole_s:.4g} s",
    "inputs_not_reached": "no process came as far as making the inputs",
    "warm_not_asked": "the warm regime was not measured",
    "interrupted": "the run was interrupted",
    "foreign_cpu": "other processes used {foreign_processors:.2f} processors",
    "foreign_cpu_warm": "other processes used {foreign_processors:.2f} processors in warm calls",
    "steal": "the host took {steal_share:.1%} of the processor time",
    "throttled": "the CPU quota throttled it for {throttled_s:.3g} s",
    "throttled_warm": "the CPU quota throttled it for {throttled_s:.3g} s during warm calls",
    "group_unseen": "its own control group cannot be read from here",
    "thermal": "{n_throttles:# thermal throttle}",
    "switches": "{switches_per_s:.0f} involuntary switches a second",
    "budget_short": "the time budget of {budget_s:time} is too short for a verdict:"
    " {n_rounds:# round} of all candidates take at least {needed_s:time}",
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
    "rerun_failed": "the run ended with {status} and left no result",
    "not_kept": "{owner}: each process compiles again",
    "answers_differ": "a second call with the same arguments gave another answer: it keeps a state"
    " or draws random numbers, and only its first answer was checked",
    "arguments_changed": "its calls change their arguments: each gets new ones, made outside the"
    " window",
    "above_tolerance": "scaled error {error_ratio:.3g} is above the tolerance"
    " {tolerance_ratio:.3g}",
    "wrong_numbers": "{n_wrong:# wrong number} of {n_numbers}: the largest error is"
    " {error_ratio:.3g}, above the tolerance {tolerance_ratio:.3g}",
    "output_complex": "the output is complex, the reference is real",
    "output_not_finite": "the output holds values that are not finite",
    "reference_not_finite": "the reference is not finite: nothing is right",
    "not_finite_elsewhere": "the output is infinite or no number where the reference is not, or"
    " not where it is",
    "other_outputs": "expected {n_expected:# output array}, got {n_outputs}",
    "other_shape": "output {n_place}: expected shape {expected}, got {shape}",
    "other_text": "output {n_place} is another text than expected",
    "not_compared": "not compared with the expected answer: {part_names}",
    "carried": "fresh processes got the function by value (cloudpickle); loading it is not in the "
    "first results, its imports are",
    "state_carried": "fresh processes got its state as it was here, so their first results may"
    " lack what a first call does: {state_names}",
    "no_such_step": "{backend} has no such step",
    "not_read": "nothing was read from {cache}",
    "programs_gone": "{n_programs:# program} was no longer loaded when they were counted",
    "many_programs": "{n_programs:# program}, of which no more than {n_counted} are looked into",
    "counters_cleared": "PyTorch's own counters were cleared meanwhile",
    "no_inductor": "Inductor, which makes kernels, was not loaded",
    "inside_cached": "read from {cache}, where what is inside cannot be counted",
    "counts_differ": "{name} differ from process to process: {n_least} to {n_most}",
    "not_counted": "nothing here counts it",
    "begins_not_reported": "JAX before 0.6.1 does not report when a step begins",
    "no_compile_events": "this version of PyTorch reports no compile events",
    "no_compiler": "no compiler that reports its steps was imported",
    "imports_shared": "{candidate_names}: they share a file, so each first result has the import of"
    " {framework_names}; to see what each one's own imports cost, give each a file of its own",
    "no_arguments_given": "{candidate_names}: no arguments, so coldwarm cannot call it with other"
    " data to see that it computes each time, and will name no winner. To get one, name a function"
    " that returns the function and its data: def make(): return fit, (x, y)",
    "not_committed": "not measured, as they are in no commit: changes in {n_files:# file}, such as"
    " {file_names}; without --after the files are measured as they are",
    "files_of_today": "{file_names}: as it is now on both sides, with the code of each",
    "one_commit": "both sides are the same commit",
    "sweep_size": "{setting_names}",
    "size_refused": "size {n_size} is left out: {parts}",
    "inspecting": "calling each of {candidate_names} twice, to check the answers",
    "unusable": "{label:label}{text}",
    "name_missing": "{label:label}{text}",
    "unfinished": "{label:label}{parts}",
    "lazy_result": "the function returns a {kind}, which has computed nothing yet, or may compute"
    " when its numbers are asked for",
    "opaque_result": "the function returns a {kind}, and coldwarm cannot tell whether what is in"
    " it is computed",
    "may_compute": "it returns a {kind} that may not be computed yet: what its {attribute} does"
    " when it is called is in no figure",
    "not_opened": "it returns a {kind} that coldwarm cannot look into: it may not be computed yet",
    "computes_when_asked": "the function returns a {kind}, which computes when it is asked: its"
    " {attribute} took {asked_s:time}, the call {call_s:time}",
    "threads_at_work": "the call left {n_threads:# thread} at work: {thread_names}",
    "processes_at_work": "the call left {n_processes:# process} running: {process_names}",
    "functions_at_exit": "calls left {n_functions:# function} to be called at the end of the"
    " process: {function_names}",
    "arrays_unfinished": "the call left {n_arrays:# array} of JAX unfinished: kept by the"
    " function, and not in its result",
    "gpu_unfinished": "a GPU still had work of {framework} after the call",
    "threads_unfinished": "the call left {n_threads:# thread} at work",
    "processes_unfinished": "the call left {n_processes:# process} running",
    "tasks_unfinished": "the call left {n_tasks:# task} of asyncio unfinished",
    "busy_afterwards": "the process went on computing after the call: it used {used_s:.3g} s of"
    " processor time in the {watched_s:.3g} s after it",
    "left_until_exit": "calls left {n_functions:# function} to be called at the end of the process",
    "signal_pending": "the call has set an alarm, whose handler runs after it",
    "failed_before": "{label} failed before it was measured: {parts}{where:place}",
    "not_for_commit": "{label}: {file} as it is now failed with the code of commit {commit}:"
    " {parts}{where:place}",
    "relative_imports": "{label} has relative imports, and {folder} has no __init__.py: make it, or"
    " write {module} in the folder above",
    "inspection_late": "the time budget was over while {label} was inspected, which calls it twice",
    "cannot_start": "{label:label}{program} cannot be started: {text}",
    "own_cache": "{label:label}{module} sets {setting} by itself, so that no process of it starts"
    " with a cache of known state: leave that to the environment",
    "no_source_file": "{label:label}{module} has no source file to be named by",
    "imported_elsewhere": "{label:label}{module} was imported from {file}, not from {folder}: name"
    " its file instead, FILE.py:NAME",
    "benchmark_of_today": "this file as it is now, what it imports as in the commit",
    "not_of_commit": "{label:label}{module_names} came from the files as they are now, not from"
    " the commit: a commit's modules are found in its src/ and its root alone",
    "not_asked": "it was not asked for",
    "needs_linux": "fresh processes are measured on Linux alone (here: {platform})",
    "not_asked_for": "not asked for: {mode_names}",
    "no_time_left": "the time budget was over after the calls in this process; give a longer one",
    "other_arguments": "a fresh process got other arguments than this one: their types do not"
    " survive",
    "fresh_answer_differs": "a fresh process gave another answer than this one: {parts}",
    "not_carried": "{place} (a {kind}) cannot be carried into a fresh process",
    "shared_process": "other things run in this process, too",
    "clean_blocks": "nothing was compiled in {n_clean} of {n_blocks:# block} of warm calls",
    "in_process_compiled": "in this process something was compiled in {n_blocks:# block},"
    " which do not count",
}
_ADVICE = {
    "not_reproducible": "seed its random numbers (such as numpy.random.default_rng(0)), or give"
    " --no-check",
    "reference_not_reproducible": "seed the random numbers of {candidate}, or name another one"
    " first",
    "no_plain_folder": "choose another --out, or set TMPDIR to a folder without such a name",
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
    "untried": "name a function that returns the function and its data: `def make(): return fit,"
    " (x, y)`",
    "unlike_for_others": "let a factory draw the data, or give them by --input, if it is to answer"
    " for any",
    "constants_folded": "give the arrays as arguments of the jitted function",
    "throttled": _QUOTA,
    "throttled_warm": _QUOTA,
    "not_kept": "njit(cache=True) keeps it",
    "answers_differ": "where each process draws others, seed it or give --no-check",
    "lazy_result": f"return what it computes, {_OR_SYNC}",
    "opaque_result": f"return arrays or numbers, in tuples, lists, dicts, dataclasses, {_OR_SYNC}",
    "may_compute": f"nothing to do where that is so; {_OR_SYNC.removeprefix('or ')}",
    "not_opened": f"nothing to do where that is so; {_OR_SYNC.removeprefix('or ')}",
    "computes_when_asked": f"return what it computes, {_OR_SYNC}",
    "threads_at_work": "join what the function starts before it returns",
    "processes_at_work": "wait for what the function starts before it returns",
    "functions_at_exit": "do the work in the call, or register the function once, at import",
    "arrays_unfinished": "return every array that the call computes, or call jax.block_until_ready"
    " on it in the function",
    "gpu_unfinished": "synchronise the device in the function",
    "threads_unfinished": "join what the function starts before it returns",
    "processes_unfinished": "wait for what the function starts before it returns",
    "tasks_unfinished": "await what the function starts before it returns",
    "busy_afterwards": "return every array that the call computes, and join what it starts",
    "left_until_exit": "do the work in the call, or register the function once, at import",
    "signal_pending": "do the work in the call",
    "inspection_late": "give a longer --time-budget",
    "not_for_commit": "name a function that needs only what both commits have; a new one can be"
    " checked from the next commit on",
    "cannot_start": "name another --python",
    "own_cache": "or give --warm-only",
    "not_carried": "make it inside the function, or leave it out of what is pickled (__getstate__)",
}
_PARAMETERS = {
    "setting_changes": "backend setting_names",
    "memory_returned": "gain_ratio n_faults",
    "collecting": "collecting_s usual_s",
    "budget_short": "budget_s needed_s n_rounds",
}
declare(Codes(_REASONS, _ADVICE, _PARAMETERS))
