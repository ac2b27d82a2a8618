"""Patterns of secrets in a text: tokens, labelled values, URLs, home folders.

Patterns alone, no measure of randomness: hashes, versions and shapes must stay as they are.
Tokens of well-known services are recognised by the patterns of detect-secrets, which is loaded
when the first text is written. Those of newer services, and tokens that were cut short, by the
list here.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

_PLUGINS = {
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "mailchimp": "MailchimpDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
"""Plug-ins of detect-secrets: left out are those that guess by randomness or by any word nearby,
and those whose time grows with the square of a text's length."""

KEY_BLOCK = re.compile(
    r"(?:-{2,9}\s*BEGIN[ A-Z0-9]*PRIVATE KEY|PuTTY-User-Key-File-\d).*?"
    r"(?:-{2,9}\s*END[ A-Z0-9]*PRIVATE KEY[ A-Z]*-*|\Z)",
    re.DOTALL,
)
"""A private key: to the end of the text where its own end is missing."""
KEY_END = re.compile(r"\A.*?-{2,9}\s*END[ A-Z0-9]*PRIVATE KEY[ A-Z]*-*", re.DOTALL)
"""One whose begin was cut off."""

SUSPECT = re.compile(
    r"pass|pwd|secret|token|cred|key|auth|cookie|bearer|basic|_p(?:at|in|w)|_sig|otp|sas|dsn|jwt|"
    r"conn|sess|[?&;]|-u\s|user|login|identified|kennwort|contrase|senha|wachtwoord|парол|密[码碼]|"
    r"パスワード",
    re.IGNORECASE,
)
"""Without any of these, a text has no labelled value."""
_WORD_FOR_IT = (
    r"(?:pass(?:wor[dt]|wd|phrase|code)s?|kennwort|contrase(?:ñ|n)a|senha|mot de passe|wachtwoord|"
    r"парол[ья]|密[码碼]|パスワード)"
)
"""Password, in the languages in which a service may say it."""
_KEYS = (
    r"(?:api|access|secret|private|account|auth|signing|encryption|client|master|licen[cs]e|shared|"
    r"storage|service|admin|deploy|ssh|gpg|pgp|hmac|webhook|session|consumer|subscription|project)"
    r"[ _-]?key"
)
_STRONG = (
    rf"(?:{_WORD_FOR_IT}|pwd|secrets?|token|credentials?|{_KEYS}|(?:php)?sess(?:ion)?[_-]?id|connection[_-]?string|"
    r"conn[_-]?str|(?:user|db|my|root|admin|smtp|ftp|mysql|pg|sql|http|proxy|redis|mongo)pass)"
    r"(?![A-Za-z])(?![_-](?:counts?|limits?|len|length|sizes?|shape|dtype|types?|ids?|idx|index|"
    r"dims?|embeddings?|budget|names?|bytes|s)\b)\d*(?:[_.-][A-Za-z0-9]+){0,4}"
)
_WEAK = (
    r"(?<![A-Za-z])(?:(?:auth|authorization|(?:set-)?cookie|otp|pass|sas|dsn|jwt)|"
    r"(?<=[_.-])(?:pass|pat|pw))"
)
_UPPER = r"(?<=_)(?:KEY|PASS|PWD|PW|PAT|SIG|PIN|CREDS?|AUTH)\d*"
_CONSTANT = (
    r"(?:None|null|True|False|true|false|[\"']{2}|[a-z]+\d*\[[\d, ]*\]|<[\w. ]+>|\*\*\*)"
    r"(?=[\s,;)}\]\"']|$)"
)
"""Values that tell nothing: constants, shapes, and what is masked already."""
_PLACEHOLDER = r"(?-i:[A-Z]+\.PEM)(?![^\s,;)])"
"""What help texts write for the file of a key."""
_CODE = (
    r"(?:[A-Za-z_]+(?:\.[A-Za-z_]+)*\((?:[A-Za-z_\s.,=:\[\]()]|\b\d{1,4}\b){0,200}\)|"
    r"(?-i:[a-z]{1,5}(?:_[a-z]{1,5}){1,2}|[a-z]{1,8}_\d{1,3})(?=[\s,;:)\]]|$))"
)
"""Values of source text: a call of a name with names, which are no texts, and short variables."""
_PLAIN = (
    rf"(?:{_CONSTANT}|{_CODE}|\d{{1,4}}(?:\.\d+)?(?:\s|[,;)]|$)|"
    r"[\"']?\d{1,4}(?:\.\d{1,4}){1,3}[\"']?(?:[\s,;:)}]|$))"
)
_ABSENT = (
    r"(?:not|invalid|missing|required|expired|empty|wrong|incorrect|too|set|unset|undefined|None|"
    r"null|a|an|the|in|of|on|no|safe|kept|stored|masked|hidden|used|read|given|known|valid|private|"
    r"shared|removed|needed|correct|there|here|gone|also|never|always|only|unknown|available|by|for|"
    r"from|to|with|at|it|this|that|taken|passed|written|sent|loaded|ready)(?:[\s.,;:!?)]|$)"
)
_QUOTED = r"[bru]{0,2}(?P<q>\\*[\"'`])(?:(?!(?P=q))(?:\\.|[^\\]))*(?:(?P=q)|\Z)"
_WORD = r"[^\s\"'`]\S*"
_LINE = r"[^\s\"'`][^\r\n]*"
_ASSIGN = r"=>|->|→|:=|==?|\uff1d|%(?:25)?3D|\\+u003d|&#61;"
_CLOSED = r"(?:\\*[\"'`]|&quot;|&#39;)?(?:\]|\*\*|</[a-z]{1,9}>)?"
"""Characters that may end a name: a quote, the bracket of a subscript, emphasis."""
_SEPARATED = (
    rf"{_CLOSED}(?:[^\S\r\n]|\\t)*(?:{_ASSIGN}|:|\uff1a|%(?:25)?3A|\\+u003a)(?:\s|\\[nrt])*+"
)
_ASSIGNED = rf"{_CLOSED}(?:[^\S\r\n]|\\t)*(?:{_ASSIGN})(?:\s|\\[nrt])*+"
_BLANK = r"(?:\s|%20)+"
_BLOCK = r"(?:[|>][+-]?[ \t]*\r?\n\s*)?"
"""Signs before a value of several lines in YAML."""
_BRACKETS = r"[(\[{][^()\[\]{}\r\n]*[)\]}]"
_SCHEME = r"(?:(?:bearer|basic|digest|token|negotiate|apikey|aws4-hmac-sha256)(?:\s|%20)+)?"


def _labelled(name: str, rest: str, plain: str = _PLAIN, *, case: bool = False) -> re.Pattern[str]:
    """Return the pattern of a name and a value, in quotes or up to the end of ``rest``."""
    flags = re.DOTALL if case else re.DOTALL | re.IGNORECASE
    return re.compile(
        rf"(?P<name>{name})(?!{plain}){_BLOCK}{_SCHEME}(?:{_QUOTED}|{_BRACKETS}|{rest})", flags
    )


LABELLED = (
    # Authorization: Bearer X, Cookie: a=b; c=d: the whole line belongs to them.
    _labelled(rf"(?:authorization|(?<![a-z])(?:set-)?cookie){_SEPARATED}", _LINE, _CONSTANT),
    # A password may have blanks in it.
    _labelled(rf"{_WORD_FOR_IT}(?![a-z])\d*(?:[_.-]\w+){{0,4}}{_SEPARATED}", _LINE, _CONSTANT),
    _labelled(rf"{_WORD_FOR_IT}\s(?:for|of)\s\S{{1,60}}?(?::|\sis)\s", _LINE, _ABSENT),
    _labelled(rf"{_STRONG}{_SEPARATED}", _WORD),
    _labelled(rf"(?:token|secret|{_KEYS})\s(?:provided|given|used|supplied|rejected):\s", _WORD),
    # login("bob", "X"), set_api_key("X"), SecretStr("X"): what a call with texts in it is given.
    re.compile(
        r"(?P<name>(?<![A-Za-z0-9])(?:log_?in|authenticate|SecretStr|(?:set|use|with|add)_(?:"
        rf"{_WORD_FOR_IT}|token|secret|credentials?|{_KEYS}))\()(?=[^()\r\n\"']{{0,80}}[\"'])[^()\r\n]*",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<name>\bidentified by\s+)(?:'[^']*'|\"[^\"]*\")", re.IGNORECASE),
    re.compile(r"(?P<name>(?<![\w-])-pass(?:in|out)?\s+pass:)\S+"),
    re.compile(
        r"(?P<name>\b(?:sshpass|mysql\w{0,8}|(?:docker|podman|helm|az|oc)\s+login)\b[^\r\n|;&]{0,200}?"
        r"\s-p\s*)[^\s'-]\S*"
    ),
    _labelled(rf"{_WEAK}{_ASSIGNED}", _WORD),
    _labelled(rf"{_WEAK}[\"']\s*:\s*", _WORD),
    _labelled(rf"{_UPPER}{_SEPARATED}", _WORD, _CONSTANT, case=True),
    # --token X, '--token', 'X', and ('Authorization', 'Bearer X').
    _labelled(
        rf"(?<![\w-])--?[\w-]{{0,40}}?(?:{_STRONG}|(?:key|auth|pass|pat|pw))"
        r"(?:[\"'],?\s*,\s*|\s+)",
        _WORD,
        rf"(?:{_CONSTANT}|{_PLACEHOLDER})",
    ),
    _labelled(
        rf"(?:{_STRONG}|authorization|(?:set-)?cookie)[\"']\s*,\s*(?=[bru]?[\"'])", _WORD, _CONSTANT
    ),
    re.compile(r"(?P<name>(?<![\w-])(?:-u|--user|--proxy-user)\s+)[^\s:]+:\S+"),
    # password is X, token was X, password 'X', Bearer X
    _labelled(
        rf"(?:{_WORD_FOR_IT}|secret|token|credentials?|{_KEYS})\s+(?:is|was|are|were)\s+",
        _LINE,
        _ABSENT,
    ),
    _labelled(rf"(?:{_WORD_FOR_IT}|secret|token|{_KEYS})\s+(?=[bru]?[\"'`])", _WORD, _CONSTANT),
    _labelled(
        rf"(?:{_WORD_FOR_IT}|secret|token|{_KEYS})\s+(?:\|\s+)?(?=\S*\d)(?=[^\s\d]*[A-Za-z])(?=\S{{5}})",
        _WORD,
    ),
    _labelled(rf"\bbearer{_BLANK}", _WORD, _CONSTANT),
    re.compile(r"(?P<name>\blogin\s+)\S+\s+password\s+\S+"),
    re.compile(rf"(?P<name><[\w:.-]{{0,40}}?{_STRONG}[^<>]{{0,80}}>)[^<>]+", re.IGNORECASE),
    re.compile(r"(?P<name>(?<![\w-])sig=)[^&\s\"']+"),
    # In the query of a URL nearly any short name may carry one.
    re.compile(
        r"(?P<name>[?&;](?:x-[\w-]{0,20}(?:signature|credential|token)[\w-]{0,20}|signature|sig|"
        r"se?ss(?:ion)?|[\w-]{0,20}(?:key|token|secret|auth|password|pwd|pass|code|sas|jwt))=)"
        r"[^&#\s\"'<>]+",
        re.IGNORECASE,
    ),
)
"""The name of a secret, as the group ``name``, and the secret to its end."""

BASIC = re.compile(r"\b(?P<name>basic\s+)(?P<value>[A-Za-z0-9+/_-]{4,}={0,2})", re.IGNORECASE)
"""``Basic X``: a secret only where ``X`` decodes to a name and a password."""

USER_INFO = (
    re.compile(
        r"(?P<name>(?<![A-Za-z0-9])[A-Za-z][\w+.-]{0,15}://)[^\s/?#:@\"'<>]*:(?!\d{1,5}(?:[/?#\s\"']|$))[^\s<>]*@"
    ),
    re.compile(r"(?P<name>(?<![A-Za-z0-9])[A-Za-z][\w+.-]{0,15}://)[^\s/?#@\"'<>]+@"),
)
"""``scheme://user:password@host``, also where the password has characters of a path."""

_TOP = (
    r"(?:[a-z]{2}|[A-Z]{2}|(?i:com|org|net|edu|gov|mil|int|info|biz|name|pro|mobi|arpa|museum|jobs|"
    r"aero|coop|travel|post|asia|cat|app|dev|cloud|online|site|tech|store|shop|xyz|blog|page|email|"
    r"mail|ai|science|academy|university|institute|systems|solutions|software|company|group|global|"
    r"team|work|works|world|digital|network|agency|bank|health|berlin|london|paris|tokyo|amsterdam|"
    r"swiss|google|apple|amazon|microsoft|local|localdomain|lan|internal|intranet|corp|home|private|"
    r"example|test|invalid|localhost|xn--[a-z0-9-]+))"
)
"""Top-level domains, of local networks too: after ``@`` and a point, source text has methods."""
EMAIL = re.compile(
    r"(?<![\w.+%-])[\w.+%-]+@(?=[\w-]*[A-Za-z])[\w-]+(?:\.[\w-]+)*"
    rf"\.{_TOP}(?![\w@]|\.?[A-Za-z_]*\s?[(\[])"
)

_FOLDERS = r"(?:homes?|[Uu]sers)"
_BEGINS = r"(?:(?<=file://)|(?<=-[A-Za-z])|(?<![\w.~/\\-]))"
_OWNER = r"[^/\s:;,'\"`()<>\[\]{}|\\]+"
HOMES = (
    re.compile(rf"{_BEGINS}(?!/usr/)(?:/[\w.-]+){{0,3}}?/{_FOLDERS}/{_OWNER}"),
    re.compile(r"\b[A-Za-z]:(?:\\+|/)Users(?:\\+|/)[^\\/:*?\"<>|\r\n]+(?=[\\/])", re.IGNORECASE),
    re.compile(r"\b[A-Za-z]:(?:\\+|/)Users(?:\\+|/)[^\\/\s:*?\"'<>|]+", re.IGNORECASE),
    re.compile(rf"(?:%2F|\\/){_FOLDERS}(?:%2F|\\/)[^%\\\s\"']+", re.IGNORECASE),
    re.compile(rf"{_BEGINS}/root(?![\w.-])"),
    re.compile(r"(?<![\w/~])~[a-z_][\w.-]*(?=/)"),
)
"""Home folders of whoever it is, written as ``~``."""

_NEWER = (
    r"gh[oprsu]_[A-Za-z0-9_]{4,}",
    r"github_pat_[A-Za-z0-9_]{4,}",
    r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct)-[\w-]{4,}",
    r"(?:sk|pk|rk|whsec)[-_](?:live|test|proj|ant|or|svcacct|admin)[-_][\w-]{4,}",
    r"sk-(?=[\w-]{0,80}[0-9A-Z])[A-Za-z0-9][\w-]{11,}",
    r"(?:hf|npm|r8|api_org)_(?=[A-Za-z]*[0-9A-Z])[A-Za-z0-9]{6,}",
    r"xox[a-z](?:\.xox[a-z])?-[\w-]{4,}",
    r"xapp-\d-[\w-]{4,}",
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA|ANPA|A3T[A-Z0-9])(?=[A-Z]*\d)[A-Z0-9]{6,}",
    r"AIza[\w-]{8,}",
    r"ya29\.[\w-]{6,}",
    r"GOCSPX-[\w-]{6,}",
    r"eyJ[A-Za-z0-9_=-]{6,}(?:\.[A-Za-z0-9_=-]*){1,4}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"(?:dop|doo|dor)_v1_[a-f0-9]{8,}",
    r"shp(?:at|ca|pa|ss)_[A-Za-z0-9]{6,}",
    r"SG\.[\w-]{8,}(?:\.[\w-]*)?",
    r"dckr_[a-z]{3}_[\w-]{6,}",
    r"nvapi-[\w-]{8,}",
    r"(?:hvs|hvb|hvr)\.[\w-]{8,}",
    r"lin_api_[A-Za-z0-9]{8,}",
    r"tskey-[\w-]{8,}",
    r"dapi[a-f0-9]{24,}",
    r"glsa_[A-Za-z0-9_]{8,}",
    r"NRAK-[A-Z0-9]{8,}",
    r"PMAK-[\w-]{8,}",
    r"sq0[a-z]{3}-[\w-]{8,}",
    r"EAA[A-Za-z0-9]{20,}",
    r"AKC[A-Za-z0-9]{16,}",
    r"AGE-SECRET-KEY-[A-Z0-9]{8,}",
    r"https://hooks\.slack\.com/\S+",
    r"https://discord(?:app)?\.com/api/webhooks/\S+",
    r"AccountKey=[^;\s]+",
    r"[MNO][A-Za-z\d_-]{23,25}\.(?=[\w-]*\d)[\w-]{6}\.[\w-]{27,}",
)
TOKEN = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_NEWER)})[\w~+/=.-]*")
"""Tokens of newer services, and those that were cut short."""


@cache
def tokens() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of tokens that detect-secrets knows, each to the end of its value."""
    known: list[re.Pattern[str]] = []
    for module, name in _PLUGINS.items():
        plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), name)
        # The second one of AWS takes the label of a key for a part of it; labels are known here.
        known += plugin.denylist[:1] if module == "aws" else plugin.denylist
    return tuple(re.compile(rf"(?:{one.pattern})[\w~+/=-]*", one.flags) for one in known)
