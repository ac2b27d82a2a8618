"""Which readings of clocks end an interval that somebody measures, by the text of a program."""

from __future__ import annotations

import pytest

from coldwarm.doctor.source_code import SourceFiles

FILE = "a.py"
CASES = [
    ("if time.time() - last > 0.1:\n    last = time.time()\n", 1, False),
    ("while time.time() - begin < 60 and go:\n    pass\n", 1, False),
    ("elapsed = time.time() - begin\nif elapsed > 60:\n    raise X\n", 1, False),
    ("elapsed = time.time() - begin\nif elapsed > 60:\n    print(elapsed)\n", 1, True),
    ("elapsed = time.time() - begin\n", 1, True),
    ("now = time.time()\nif now - last > 1:\n    last = now\n", 1, False),
    ("now = time.time()\nif now - last > 1:\n    print(n/(now - last))\n", 1, True),
    ("if (datetime.now() - last).total_seconds() > 5:\n    pass\n", 1, False),
    ("print((datetime.now() - last).total_seconds())\n", 1, True),
    ("b = datetime.datetime.now()\nprint((b - a).seconds)\n", 1, True),
    ("time.sleep(max(0, 0.1 - (time.time() - t)))\n", 1, False),
    ("left = 3 - (time.time() - t)\nif left < 0: pass\n", 1, False),
    ("def late():\n    return time.time() - t > 3\n", 2, False),
    ("def gone():\n    return time.time() - t\n", 2, True),
    ("late = time.time() - t > 3\nif late or x: pass\n", 1, False),
    ("print(time.time() - t > 3)\n", 1, True),
    ("assert time.time() - t < 3\n", 1, True),
    ("while (now := time.time()) - t < 3:\n    pass\n", 1, False),
    ("while (now := time.time()) - t < 3:\n    print(now - t)\n", 1, True),
    ("laps.append(time.time())\nd = np.diff(laps)\n", 1, True),
    ("laps.append(time.time())\nd = np.diff(np.array(laps))\n", 1, True),
    ("laps.append(time.time())\nplot(laps, y)\n", 1, False),
    ("laps.append(time.time())\nd = [b-a for a, b in zip(laps, laps[1:])]\n", 1, True),
    ("laps.append(time.time())\nd = [b-a for a, b in zip(laps[:-1], laps[1:])]\n", 1, True),
    ("laps.append(time.time())\nd = dict(zip(names, laps))\n", 1, False),
    ("laps.append(('x', time.time()))\nd = pairwise(laps)\n", 1, True),
    ("s['b'] = time.time()\nprint(s['b'] - s['a'])\n", 1, True),
    ("s['a'] = time.time()\nprint(s['b'] - s['a'])\n", 1, False),
    ("s[k] = time.time()\nprint(s['b'] - s['a'])\n", 1, True),
    ("best = min(best, time.time() - t)\nprint(best)\n", 1, True),
    ("total += time.time() - t\n", 1, True),
    ("self.t1 = pc()\nprint(w.t1 - w.t0)\n", 1, True),
    ("t = pc()\ndef f(t):\n    return t - 1\n", 1, False),
    ("t = pc()\ndef f():\n    print(t - 1)\n", 1, True),
    ("def f():\n    t1 = pc() * 1000\n    return t1 - t0\n", 2, True),
    ("deadline = time.time() + 60\nprint(deadline - 3)\n", 1, False),
    ("a, t1 = work(), time.time()\nprint(t1 - t0)\n", 1, True),
    ("self.elapsed = time.time() - t\nwhile self.elapsed < 3: pass\n", 1, False),
    ("self.elapsed = time.time() - t\nreturn_(self.elapsed)\n", 1, True),
    ("d[n] = time.time() - t\n", 1, True),
    ("d['seconds'] = f'{time.time() - t:.2f}'\n", 1, True),
    ("x = 1 if time.time() - t > 3 else 2\n", 1, False),
    ("log(time=time.time() - t)\n", 1, True),
    ("timer.restart(); a = time.time(); b = a\nprint(b - x)\n", 1, False),
    ("end = time.time() if timed else 0\nprint(end - x)\n", 1, True),
    ("speed = 100 / (time.time() - t)\nif speed < 3: pass\nprint(speed)\n", 1, True),
    ("waited = time.time() - t\ntotal += waited\n", 1, True),
    ("waited = time.time() - t\ntotal += waited\nif total > 9: pass\n", 1, False),
]


@pytest.mark.parametrize(("text", "line", "ends"), CASES)
def test_a_difference_that_only_decides_is_no_measurement(
    text: str,
    line: int,
    ends: bool,  # noqa: FBT001 - a parameter
) -> None:
    assert SourceFiles({FILE: text}).ends_interval(FILE, line, "time") == ends


def test_of_two_calls_at_a_line_the_clock_is_meant() -> None:
    text = "print(read() - offset, time.time())\n"
    sources = SourceFiles({FILE: text})
    assert not sources.ends_interval(FILE, 1, "time")
    assert sources.ends_interval(FILE, 1, "read")
    assert sources.ends_interval(FILE, 1, "called_otherwise")


def test_a_clock_of_the_day_may_be_given_a_time_zone() -> None:
    text = "end = datetime.now(timezone.utc)\nprint(end - begin)\n"
    assert SourceFiles({FILE: text}).ends_interval(FILE, 1, "datetime.now")
