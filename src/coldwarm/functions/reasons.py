"""What is said of frameworks and of a user's own functions."""

_OR_SYNC = "or name what waits for it: --sync PACKAGE:FUNCTION (sync= in Python)"

REASONS = {
    "rerun_failed": "the run ended with {status} and left no result",
    "not_kept": "{owner}: what this candidate compiles is not kept for another process",
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
    "carried": "fresh processes got the function by value (cloudpickle): to load it is no part of"
    " first results, the imports that it needs are",
    "state_carried": "fresh processes got what it keeps from call to call as it was here, so that"
    " their first results may lack what a first call does: {state_names}",
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
    "inspecting": "inspecting {candidate_names}: each is called twice, and its answer kept",
    "unusable": "{label:label}{text}",
    "name_missing": "{label:label}{text}",
    "unfinished": "{label:label}{parts}",
    "lazy_result": "the function returns a {kind}, which has computed nothing yet, or may compute"
    " when its numbers are asked for",
    "opaque_result": "the function returns a {kind}, and nobody can tell whether what is in it is"
    " computed",
    "may_compute": "it is not known whether the {kind} that it returns has computed all: what its"
    " {attribute} does, if anybody calls it, is in no figure",
    "not_opened": "it is not known whether the {kind} that it returns has computed all: nobody can"
    " look into it from here",
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
    "inspection_late": "the time budget was over while {label} was inspected, which calls it twice",
    "cannot_start": "{label:label}{program} cannot be started: {text}",
    "own_cache": "{label:label}{module} sets {setting} by itself, so that no process of it starts"
    " with a cache of known state: leave that to the environment",
    "no_source_file": "{label:label}{module} has no source file to be named by",
    "imported_elsewhere": "{label:label}{module} was imported from {file}, not from {folder}: name"
    " its file instead, FILE.py:NAME",
    "benchmark_of_today": "its file is today's; what that imports is of the commit",
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
ADVICE = {
    "not_kept": "numba.njit keeps it with cache=True",
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
    "cannot_start": "name another --python",
    "own_cache": "or give --warm-only",
    "not_carried": "make it inside the function, or leave it out of what is pickled (__getstate__)",
}
