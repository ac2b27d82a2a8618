"""Texts of the doctor: those of a report here, of what a rule finds in the file of that rule."""

from __future__ import annotations

from coldwarm.contracts.reasons import Codes, declare
from coldwarm.doctor.rules import rules

_REASONS = {
    "saving_again": "the time of the {n_times:# compilation} that this caused",
    "saving_read": "the time of the {n_times:# program} that this caused, {n_read} of them"
    " found in a cache",
    "doctor_looks": "what the program was seen to spend on it",
    "rounds_interrupted": "it was interrupted after {n_rounds} of {n_asked} rounds",
    "rounds_out_of_time": "the time budget was over after {n_rounds} of {n_asked} rounds; more are"
    " measured with a longer --time-budget",
    "output_not_compared": "its output was not compared: it had not the same number of lines in"
    " each run before the change",
    "output_all_varies": "all output lines differ from run to run: not compared",
    "cache_not_empty": "{n_reads:# program} were read from a cache on disk that was to be"
    " empty: the program sets a folder of its own, or reads what it wrote itself",
    "doctor_few_waits": "few of the reads waited, which may have been for the first calls",
    "doctor_wrong_result": "it makes a result other than what the code says, and costs no time",
    "doctor_once": "it costs no time, and is right where it is to happen once for each compilation",
    "doctor_ended": "an error ended it here",
    "doctor_untimed": "its time is not measured by itself",
    "doctor_depends": "it depends on what takes its place",
    "needs_monitoring": "calls, clocks and reads of values; run it with Python 3.12 or later, and"
    " without a debugger or a coverage tool",
    "trace_untold": "JAX does not tell of what is traced below jax.grad or jax.vmap; from Python"
    " 3.12 on it is seen all the same",
    "end_not_seen": "how the program ended: it was killed, left by os._exit, or still runs; its"
    " time is told up to the last event",
    "program_replaced": "how the time went after the process had replaced its program (as by"
    " os.execv); what was compiled there is told",
    "jit_off": "what is compiled: `jit` is off in the pass that looks for keys",
    "torch_on_gpu": "where PyTorch waits for a GPU, as `.item()` in a loop does, and which clock is"
    " read before the GPU is done",
    "imported_before": "{frameworks} had been imported before the block began",
    "devices_before": "the devices had been started before the block began",
    "operations_many": "operations outside of `jit` after the first 10,000, one by one: they are in"
    " the lines at which it ran",
    "journal_cut": "the program compiled so often that the last part is counted, not told one by"
    " one",
    "killed_before_its_end": "the program was ended before the doctor could say it",
    "called_elsewhere": "it was not called from this line, or not in a way that is watched",
    "no_journal": "anything: the program has left no journal, so nothing is known of it but how"
    " long it took (it deleted the temporary files, the disk is full, or its Python takes no"
    " PYTHONPATH)",
    "pass_ended": "what the pass for {what} looks for, at least in part: it ended with {status},"
    " the program by itself with {usual}",
    "pass_unseen": "what the pass for {what} looks for: it has left no journal",
    "pass_left_out": "what the pass for {what} looks for: the program was killed before",
    "lines_lost": "{n_lines:# line} of the journal could not be written: the disk was full,"
    " or the program closed the file",
    "memory_not_shown": "nothing was compiled to the end, or its framework does not show the"
    " memory of programs",
    "ended_compiling": "it ended while {function} was being traced or compiled at {at}: how long"
    " that took is in no figure",
    "doctor_failed": "the doctor itself failed at {at} with {error}: something may be missing here",
}
_MISSED_BY_NUMBA = {
    "numba_nothing_kept": "nothing of this function was kept before",
    "numba_file_changed": "its file has changed since it was kept",
    "numba_types": "it was not kept for these types, only for others",
    "numba_code": "the function itself has changed since it was kept",
    "numba_captured": "what it takes from around it has other values than when it was kept",
    "numba_processor": "it was kept for another kind of processor",
    "numba_version": "it was kept by another version of Numba",
    "numba_unreadable": "what was kept cannot be read",
    "numba_unknown": "the reason is not known",
}
"""By kind of miss."""
_AFTER_A_MISS = {
    "numba_nothing_kept": "run the program with this cache once, where it may write",
    "numba_types": "call the function with these types where the cache is filled",
    "numba_processor": "fill it on a machine with the same processor, or set NUMBA_CPU_NAME=generic"
    " and NUMBA_CPU_FEATURES= in both places",
    "numba_version": "fill it again with the version that uses it",
    **dict.fromkeys(
        ("numba_file_changed", "numba_code", "numba_captured"),
        "fill it again with the program that uses it",
    ),
}
for _codes in (
    Codes(_REASONS),
    Codes(_MISSED_BY_NUMBA, _AFTER_A_MISS),
    *(rule.codes for rule in rules()),
):
    declare(_codes)
