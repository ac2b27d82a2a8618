"""Texts about commands that are started as they are."""

from coldwarm.contracts.reasons import Codes, declare

_REASONS = {
    "ended_before_ready": "it ended with exit status {status} before it was ready",
    "ended_by_itself": "it ended with exit status {status} before it was asked to",
    "command_unseen": "programs of {owner_names:list} were compiled or read where nothing tells of"
    " it: by a process that is not watched, or in another folder",
    "given_read": "read from the given cache: {n_hits:# program}; compiled: {n_compiles}",
    "given_unread": "nothing was read from the given cache",
    "does_not_stop": "it did not end within {limit_s:g} s of {name}, and was killed",
    "processes_left": "it has left {n_processes:# process}, which were ended",
    "request_failed": "a request was answered with {answer}",
    "no_python": "no Python process of it was seen, so that its time is not divided",
    "command_cache_unknown": "it keeps compiled programs in no cache that coldwarm knows",
    "command_home": "files that a program keeps by itself, in its home or elsewhere, are not"
    " watched",
    "command_watched": "what watches a start takes part in it: about 5 ms of Python's own start,"
    " and 10 to 20 ms where a framework is imported, with empty and with filled caches alike",
    "command_pages": "pages of files that the operating system keeps in memory are as an earlier"
    " start has left them",
}
_ADVICE = {
    "does_not_stop": "name the signal that ends it: --stop SIGINT",
    "processes_left": "let the program end what it starts",
}
declare(Codes(_REASONS, _ADVICE))
