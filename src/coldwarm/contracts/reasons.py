"""Why something is so: every reason, caution, rejection, limitation and refusal, as data.

A reason is a code with parameters. Its words stand in ``coldwarm.report.reasons`` and nowhere
else, and no module chooses by them. ``CODES`` declares the parameters of each code. A parameter's
name states its unit and with it its type: see ``UNITS``; whatever has no unit is a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import Record
from coldwarm.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Value = str | int | float | list[str]

UNITS: dict[str, tuple[type, ...]] = {
    "_s": (float, int),
    "_share": (float, int),
    "_ratio": (float, int),
    "_processors": (float, int),
    "_per_s": (float, int),
    "_bytes": (int,),
    "_names": (list,),
}
"""By the end of a parameter's name: seconds, a share (0.05 is 5 %), a ratio, processors, a rate,
bytes, several texts. A name that begins with ``n_`` is a count."""

CODES: dict[str, str] = {
    # What a plug-in, a framework or the operating system said in words of its own.
    "stated": "text",
    # Several reasons at once: its parts.
    "several": "",
    # Processes, caches and the machine.
    "correctness_gate": "",
    "not_reproducible": "",
    "reference_not_reproducible": "candidate",
    "gpu_unavailable": "",
    "missing_dependency": "name",
    "not_measured": "mode_names",
    "not_proved": "mode_names",
    "timeout": "limit_s",
    "exception": "error text",
    "exited": "status",
    "signal": "name",
    "killed": "",
    "pipe_closed": "",
    "output_flood": "limit_bytes",
    "garbage": "text",
    "malformed": "message text",
    "no_plain_folder": "folder",
    "setting_changes": "backend setting_names",
    "settings": "setting_names",
    "reference_failed": "",
    "making_failed": "",
    "no_artifact": "",
    "other_inputs": "",
    "contradicted": "mode",
    "no_cache": "",
    "start_not_judged": "",
    "uncounted": "owner count_names",
    "files_before": "owner n_files",
    "foreign_hits": "owner n_hits",
    "not_compiled": "owner",
    "kept_elsewhere": "owner n_entries",
    "cache_not_asked": "owner n_compiles",
    "compiled_again": "owner n_hits n_files suffix_names",
    "not_from_cache": "owner n_misses n_bypasses n_compiles",
    "no_hits": "owner",
    "new_files": "owner n_files",
    "cache_used": "owner n_requests n_compiles n_files",
    "cache_not_used": "owner",
    "empty_before": "owner n_hits n_compiles",
    "filled_before": "owner n_files n_hits",
    "filled_by_default": "owner n_files n_hits n_compiles",
    "same_by_default": "",
    "not_measured_by_default": "",
    "not_filled": "",
    "none_new": "owner n_files",
    "written": "owner n_files",
    "none_written": "owner",
    "as_installed": "owner",
    "loaded": "owner n_files size_bytes",
    "no_warm_block": "",
    "blocks_uncounted": "n_blocks",
    "came_unwatched": "framework",
    "listeners_removed": "framework",
    "caches_moved": "setting_names",
    "files_of_earlier": "owner n_files file_names",
    "files_left_by_earlier": "owner file_names",
    "files_own": "owner",
    "files_without": "owner file_names",
    "files_hidden": "file_names",
    "files_untried": "file_names",
    "files_left": "owner n_files",
    "files_unseen": "",
    "no_new_header": "owner n_compiles",
    "caches_controlled": "owner_names",
    "own_memo": "",
    "faster_than_inspected": "cold_s inspected_s",
    "extensions_by_files": "",
    "compiled_in_window": "n_programs",
    "every_call_compiled": "n_programs n_calls",
    "second_call_compiled": "n_programs",
    "nothing_compiled": "n_blocks",
    "nothing_compiled_since": "n_programs n_calls",
    "no_glibc": "",
    "memory_returned": "gain_ratio n_faults",
    "memory_may_be_returned": "n_faults",
    "few_page_faults": "n_faults",
    "memory_not_compared": "",
    "answers_kept": "other_s usual_s",
    "slow_after_pause": "other_s usual_s",
    "collecting": "collecting_s usual_s",
    "no_other_arguments": "",
    "unvaried": "",
    "of_argument": "name",
    "untried": "",
    "partly_tried": "argument_names other_names",
    "answer_stays": "",
    "ignores_arguments": "argument_names",
    "wrong_for_others": "argument_names",
    "unlike_for_others": "argument_names",
    "no_other_answers": "",
    "constants_folded": "program_names",
    "other_data_differ": "",
    "no_reference": "",
    "calls_too_long": "call_s",
    "collector_off": "",
    "bytecode_as_installed": "",
    "pages_as_left": "",
    "pages_by_advice": "",
    "cuda_uncounted": "",
    "cuda_as_left": "",
    "cuda_lazy": "",
    "inductor_compiler": "",
    "inductor_preprocessor": "",
    "jax_cache_key": "",
    "numba_config": "",
    "made_shortly_before": "",
    "not_told": "by",
    "left_out": "",
    "not_yet_read": "",
    "not_bound": "",
    "persistent_only": "",
    "synchronous": "",
    "parts_exceed": "parts_s whole_s",
    "inputs_not_reached": "",
    "warm_not_asked": "",
    "not_asked_for": "mode_names",
    "interrupted": "",
    "foreign_cpu": "foreign_processors",
    "foreign_cpu_warm": "foreign_processors",
    "steal": "steal_share",
    "throttled": "throttled_s",
    "throttled_warm": "throttled_s",
    "group_unseen": "",
    "thermal": "n_throttles",
    "switches": "switches_per_s",
    "budget_ended": "process",
    "budget_short": "budget_s needed_s n_rounds",
    "line_left_out": "n_line text",
    "no_control_groups": "",
    "unlimited": "",
    "no_frequency_policy": "",
    "not_on_path": "program",
    "program_failed": "program text",
    "no_answer": "program limit_s",
    "not_understood": "program text",
    "no_driver": "",
    "no_checkout": "",
    # Statistics.
    "few_values": "n_values n_needed",
    "few_samples": "n_samples n_needed",
    "few_processes": "n_processes n_needed",
    "few_processes_each": "n_needed",
    "few_processes_of": "side n_processes n_needed",
    "few_pairs": "n_pairs n_needed",
    "few_pairs_fit": "n_pairs n_needed",
    "few_valid": "n_processes",
    "not_positive": "side",
    "no_valid_process": "",
    "no_valid_process_in": "candidate cache_mode",
    "no_warm_samples": "",
    "no_interval": "figure",
    "not_recorded": "",
    "unstated": "",
    "not_judged": "cache_mode",
    "batches_differ": "batch_names",
    "no_compiling_step": "",
    "no_plain_step": "",
    "no_scenario": "",
    "one_shape": "",
    "below_clock": "",
    "drifts": "change_share",
    "level_moves": "n_moves range_share",
    "steady_after": "n_warmup n_samples",
    "steady_slower": "n_warmup n_samples slower_share",
    "steady": "n_processes n_warmup",
    "shown_by_others": "",
    "started_together": "",
    "steady_across": "change_share low_share high_share n_steady n_processes",
    "steady_of_few": "n_steady n_processes",
    "unsteady": "n_unsteady n_processes",
    "drifts_across": "change_share low_share high_share n_processes",
    "interval_outside": "confidence_share",
    "interval_inside": "confidence_share",
    "interval_across": "confidence_share",
    "few_for_verdict": "n_needed",
    "far_apart": "far_ratio",
    "many_verdicts": "n_verdicts error_share",
    "control_differs": "control of control_ratio",
    "common_rounds": "n_rounds",
    "separate_processes": "n_processes n_baseline",
    "separate_runs": "n_ours n_baseline",
    "lone_run": "n_needed",
    "rounds_related": "false_share",
    "between_runs": "noise_share",
    "whole_rounds": "n_rounds",
    "rounds_left_out": "n_rounds",
    "separate_costs": "",
    "by_order": "n_rounds",
    "by_student": "n_rounds",
    "block_pairs": "n_pairs n_rounds",
    "most_common": "n_others",
    "imprecise": "reached_share asked_share",
    "two_levels": "upper_share gap_share",
    "slow_second_call": "steady_ratio",
    "mean_above_median": "mean_s median_s",
    "compiled_blocks": "n_blocks",
    "no_bytecode": "n_missing n_modules",
    "no_total": "",
    "no_other_total": "",
    "not_swept": "",
    "nothing_made": "",
    "indistinguishable": "candidate_names",
    "all_dearer": "confidence_share",
    "extrapolated": "n_calls",
    "whole_loops": "",
    "longer_process": "candidate_names n_calls",
    "filled_caches": "candidate_names n_calls",
    "filled_caches_open": "",
    "more_shapes": "candidate extra_s",
    "warm_call_differs": "which",
    "neither_differs": "which",
    "starts_equal": "",
    "nothing_distinguished": "",
    "start_differs": "which",
    "never": "",
    "at_once": "",
    "many_calls": "n_calls",
    "only_in": "side",
    "sides_apart": "",
    "few_runs": "n_a n_b n_needed",
    "noise_shown": "kind noise_share n_reports",
    "noise_unknown": "kind_names",
    "incomplete": "side",
    "disturbed": "side n_disturbed n_processes",
    "harness_differs": "a b",
    # Files of other tools.
    "measured_elsewhere": "side tool",
    "exported_elsewhere": "side tool",
    "one_process_elsewhere": "side tool",
    "ends_differ": "",
    "runs_failed_elsewhere": "tool n_failed",
    "no_samples_elsewhere": "tool",
    "unit_elsewhere": "unit",
    # Snapshots: files of strangers, keys, and what does not agree.
    "no_snapshot": "folder",
    "snapshot_wrong": "path",
    "file_missing": "",
    "file_not_named": "",
    "no_such_part": "",
    "part_missing": "part",
    "named_twice": "path",
    "nothing_makes_it": "",
    "not_to_be_named": "path",
    "other_size": "size_bytes named_bytes",
    "other_bytes": "sha256",
    "other_contract": "found expected",
    "artifact_wrong": "text",
    "contradicts": "text",
    "name_not_plain": "",
    "path_too_long": "n_characters",
    "too_deep": "n_folders",
    "no_plain_file": "kind",
    "too_large": "limit_bytes",
    "too_much": "n_files limit_bytes",
    "archive_too_large": "limit_bytes",
    "archive_of_several": "file",
    "archive_broken": "file text",
    "archive_leads_out": "path",
    "archive_entry": "path",
    "archive_twice": "path",
    "no_room_to_unpack": "folder text",
    "key_not_read": "file kind",
    "key_encrypted": "file",
    "key_of_other_kind": "file",
    "not_signed": "",
    "signature_of_other_length": "n_needed",
    "signature_differs": "",
    "signature_of_other": "",
    "bundle_differs": "text",
    "bundle_of_other": "",
    "nothing_else_tells": "holds",
    "said_otherwise": "text",
    "other_rules": "n_values",
    "written_otherwise": "",
    "of_other_rules": "",
    "not_made_again": "text",
    "made_otherwise": "",
    "bundle_not_asked": "",
    "signature_not_asked": "",
    "packed_otherwise": "",
    "empty_folder": "",
    "archive_more": "file",
    "no_identity": "",
    "is_baseline": "",
    "ratios_repeated": "",
    "same_run": "",
    "no_common_case": "",
    "lock_not_plain": "text",
    "not_hashed": "package_names",
    "no_such_wheel": "name text",
    "not_trusted": "",
    "no_such_python": "version",
    "environment_failed": "program text",
    "harness_not_here": "",
    "harness_is_code": "file",
    "own_functions": "case",
    "code_left_out": "",
    "code_not_recorded": "",
    "code_with_option": "option",
    "code_differs": "case",
    "no_options": "folder",
    "rerun_failed": "status",
    "folder_not_empty": "folder",
    # Frameworks and a user's own functions.
    "not_kept": "owner",
    "answers_differ": "",
    "arguments_changed": "",
    "above_tolerance": "error_ratio tolerance_ratio",
    "wrong_numbers": "n_wrong n_numbers error_ratio tolerance_ratio",
    "output_complex": "",
    "output_not_finite": "",
    "reference_not_finite": "",
    "not_finite_elsewhere": "",
    "other_outputs": "n_expected n_outputs",
    "other_shape": "n_place expected shape",
    "other_text": "n_place",
    "not_compared": "part_names",
    "carried": "",
    "state_carried": "state_names",
    "no_such_step": "backend",
    "not_read": "cache",
    "begins_not_reported": "",
    "programs_gone": "n_programs",
    "many_programs": "n_programs n_counted",
    "counters_cleared": "",
    "no_inductor": "",
    "inside_cached": "cache",
    "counts_differ": "name n_least n_most",
    "not_counted": "",
    "no_compile_events": "",
    "no_compiler": "",
    "inspecting": "candidate_names",
    "unusable": "label text",
    "name_missing": "label text",
    "unfinished": "label",
    "lazy_result": "kind",
    "opaque_result": "kind",
    "may_compute": "kind attribute",
    "not_opened": "kind",
    "computes_when_asked": "kind attribute asked_s call_s",
    "threads_at_work": "n_threads thread_names",
    "processes_at_work": "n_processes process_names",
    "functions_at_exit": "n_functions function_names",
    "arrays_unfinished": "n_arrays",
    "gpu_unfinished": "framework",
    "threads_unfinished": "n_threads",
    "processes_unfinished": "n_processes",
    "tasks_unfinished": "n_tasks",
    "busy_afterwards": "used_s watched_s",
    "left_until_exit": "n_functions",
    "signal_pending": "",
    "failed_before": "label where",
    "inspection_late": "label",
    "cannot_start": "label program text",
    "own_cache": "label module setting",
    "no_source_file": "label module",
    "imported_elsewhere": "label module file folder",
    "not_of_commit": "label module_names",
    "benchmark_of_today": "",
    "not_asked": "",
    "needs_linux": "platform",
    "no_time_left": "",
    "other_arguments": "",
    "fresh_answer_differs": "",
    "not_carried": "place kind",
    "shared_process": "",
    "clean_blocks": "n_clean n_blocks",
    "in_process_compiled": "n_blocks",
    # Snapshots.
    "no_index_asked": "",
    "index_silent": "text",
    # Patterns and claims.
    "tpu_unavailable": "",
    "not_seen": "what",
    "not_declared_here": "",
    "judged_by_other_file": "verdict",
    "declared_otherwise": "",
    "facts_as_stated": "",
    "facts_otherwise": "",
    "no_verdict_on": "metric",
    "counted": "count_name n_do n_dont",
    # What the doctor has seen.
    **{
        f"doctor_{kind}": "function n_again n_read argument n_values before now"
        for kind in (
            "static",
            "shape",
            "dtype",
            "weak_type",
            "tree",
            "type",
            "commitment",
            "sharding",
            "context",
            "transform",
            "new_function",
            "new_closure",
            "number",
            "no_tensor",
            "guard",
            "unknown",
        )
    },
    "doctor_functions": "function n_again n_read argument n_values before now",
    "doctor_also": "argument before now n_times",
    "doctor_too": "argument n_times",
    "doctor_more": "n_arguments",
    "doctor_taken": "argument",
    "doctor_pending": "clock n_reads caller",
    "doctor_thrown_away": "clock n_reads",
    "doctor_first_call": "clock compiled_s interval_s caller",
    "doctor_reads": "n_reads n_waited blocked_s each_s",
    "doctor_reads_ready": "n_reads n_ready",
    "doctor_few_waits": "",
    "doctor_no_array": "function n_again n_read argument n_values before now",
    "doctor_new_body": "function n_compiles",
    "doctor_transfers": "call n_transfers sent_bytes",
    "doctor_growing": "call n_lengths",
    "doctor_constants": "function constants_bytes",
    "doctor_equations": "function n_equations n_all",
    "doctor_donation": "function state_bytes argument_names",
    "doctor_effect": "call n_times",
    "doctor_draw": "call function",
    "doctor_error": "error",
    "doctor_break": "text why",
    "doctor_gave_up": "n_programs setting",
    "doctor_operations": "n_operations",
    "doctor_eager_shapes": "n_again n_read n_shapes before now",
    "doctor_list": "function argument n_numbers",
    "doctor_changes": "function what",
    "doctor_closure": "function",
    "doctor_key": "name first",
    "doctor_wrong_figure": "",
    "cache_not_empty": "n_reads",
    "output_not_compared": "",
    "rounds_interrupted": "n_rounds n_asked",
    "rounds_out_of_time": "n_rounds n_asked",
    "output_all_varies": "",
    "saving_again": "n_times",
    "saving_read": "n_times n_read",
    "saving_kept": "",
    "saving_other": "other_names",
    "saving_unknown": "",
    "saving_turns": "n_turns",
    "saving_share": "equations_share",
    "doctor_wrong_result": "",
    "doctor_once": "",
    "doctor_ended": "",
    "doctor_overlap": "",
    "doctor_untimed": "",
    "doctor_depends": "",
    "doctor_memory": "",
    "needs_monitoring": "",
    "trace_untold": "",
    "journal_cut": "",
    "end_not_seen": "",
    "program_replaced": "",
    "jit_off": "",
    "imported_before": "frameworks",
    "devices_before": "",
    "killed_before_its_end": "",
    "called_elsewhere": "",
    "memory_not_shown": "",
    "no_journal": "",
    "pass_ended": "what status usual",
    "pass_unseen": "what",
    "pass_left_out": "what",
    "lines_lost": "n_lines",
    "ended_compiling": "function at",
    "doctor_failed": "at error",
}
"""By code, the names of its parameters."""


class Reason(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One reason: ``values`` are the parameters that ``CODES`` declares for the code."""

    code: str
    values: dict[str, Value] = {}
    parts: list[Reason] = []
    """Of ``several``, or the reasons that this one rests on."""

    def __post_init__(self) -> None:
        """Refuse a code that is not declared, or other parameters than it has."""
        declared = CODES.get(self.code)
        if declared is None:
            message = f"no reason has the code {self.code!r}; was it written by a later coldwarm?"
            raise ValueError(message)
        names = declared.split()
        if self.values.keys() != set(names):
            message = f"the reason {self.code!r} has the parameters {names}, not {[*self.values]}"
            raise ValueError(message)
        for name, value in self.values.items():
            if isinstance(value, bool) or not isinstance(value, _types(name)):
                message = f"{name} of the reason {self.code!r} cannot be {value!r:.60}"
                raise ValueError(message)  # noqa: TRY004 - msgspec turns a ValueError into its own

    def __str__(self) -> str:
        """Return the code and its values: a short text that no rewording changes."""
        return brief(self)


def is_wrong(reason: Reason | None) -> bool:
    """Say whether it is of a wrong answer, or of one that nobody can check: no time is told."""
    return reason is not None and reason.code in _WRONG


_WRONG = {"correctness_gate", "not_reproducible", "reference_not_reproducible"}


def because(code: str, /, *parts: Reason, **values: Value) -> Reason:
    """Return a reason.

    Raises:
        ValueError: the code is not declared, or has other parameters.
    """
    return Reason(code=code, values=values, parts=list(parts))


def missing(values: Mapping[str, object], reason: Reason) -> dict[str, Reason]:
    """Return the reason under the name of every value that is ``None``."""
    return {name: reason for name, value in values.items() if value is None}


def brief(reason: Reason) -> str:
    """Return ``code``, or ``code: value, value``, as published contracts have it."""
    texts = [_text(reason.values[name]) for name in CODES[reason.code].split()]
    if reason.parts:
        texts.append("; ".join(map(brief, reason.parts)))
    return f"{reason.code}: {', '.join(texts)}" if texts else reason.code


def distinct(reasons: Iterable[Reason]) -> list[Reason]:
    """Return each reason once, in the order of first appearance."""
    return list({brief(reason): reason for reason in reasons}.values())


def together(reasons: Iterable[Reason]) -> Reason:
    """Return several reasons as one; one alone as it is."""
    parts = distinct(reasons)
    return parts[0] if len(parts) == 1 else because("several", *parts)


def _types(name: str) -> tuple[type, ...]:
    if name.startswith("n_"):
        return (int,)
    return next((types for unit, types in UNITS.items() if name.endswith(unit)), (str,))


def _text(value: Value) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


class RefusedError(UsageError):
    """Something asked for is refused; its words are written where it is shown."""

    def __init__(self, reason: Reason) -> None:
        """Keep the reason."""
        super().__init__(brief(reason))
        self.reason = reason
