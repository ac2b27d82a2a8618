"""Python's own library, and data classes of others."""

import asyncio
import collections
import concurrent.futures
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import http.server
import json
import math
import multiprocessing
import queue
import random
import re
import sqlite3
import statistics
import threading
import time

import jsonschema
import msgspec


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1


@dataclasses.dataclass
class Fit:
    """A result with a method that others would take for a future's."""

    slope: float
    errors: list

    def result(self):
        return self.slope


class Money:
    """A number of the user's own."""

    def __init__(self, cents):
        self.cents = cents

    def __float__(self):
        return self.cents / 100


class Engine:
    """An object that has computed already, and can compute again."""

    def __init__(self):
        self.state = [0.0, 1.0]

    def compute(self):
        return sum(self.state)


class Report(msgspec.Struct):
    """A record."""

    name: str
    values: list[float]


POOL = concurrent.futures.ThreadPoolExecutor(2)
BEATS = []


def _beat():
    while True:
        BEATS.append(time.time())
        time.sleep(0.05)


@functools.cache
def _heart():
    threading.Thread(target=_beat, daemon=True).start()


@functools.cache
def _server():
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _square(n):
    return n * n


def heartbeat_thread():
    _heart()
    return sum(range(1000))


def kept_server():
    return _server().server_port > 0


def kept_pool():
    return list(POOL.map(math.sqrt, range(20)))


def fresh_thread_pool():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [one.result() for one in [pool.submit(_square, n) for n in range(5)]]


def process_pool():
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        return list(pool.map(_square, range(5)))


def multiprocessing_pool():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(_square, range(5))


def joined_threads():
    found = queue.Queue()
    threads = [threading.Thread(target=lambda n=n: found.put(n)) for n in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return sorted(found.get() for _ in range(3))


def asynchronous():
    async def both():
        return await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))

    return asyncio.run(both())


def own_class_with_result():
    return Fit(2.0, [0.1, 0.2])


def own_number():
    return Money(250)


def own_class_with_compute():
    return Engine()


def record():
    return Report("a", [1.0, 2.0])


def decoded():
    return msgspec.json.decode(b'{"name": "a", "values": [1, 2]}', type=Report)


def validated():
    jsonschema.validate({"a": 1}, {"type": "object", "properties": {"a": {"type": "number"}}})
    return True


def counted():
    return collections.Counter("mississippi")


def ordered():
    return collections.OrderedDict(a=1, b=2)


def double_ended():
    return collections.deque([1, 2, 3], maxlen=5)


def money():
    return decimal.Decimal("1.10") * 3


def thirds():
    return fractions.Fraction(1, 3) + 1


def moment():
    return datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(days=3)


def colour():
    return {"colour": Colour.RED}


def matched():
    return re.findall(r"\w+", "what a text")


def a_match():
    return re.match(r"(\w+) (\w+)", "two words")


def text():
    return json.dumps({"a": [1, 2, 3]})


def nested_lists():
    return [[math.sin(a * b) for a in range(5)] for b in range(5)]


def nothing_but_a_set():
    return {n % 7 for n in range(100)}


def queried():
    with sqlite3.connect(":memory:") as db:
        db.execute("create table t (n integer)")
        db.executemany("insert into t values (?)", [(n,) for n in range(10)])
        return db.execute("select sum(n) from t").fetchone()


def regression():
    return statistics.linear_regression([1, 2, 3], [2.0, 4.1, 5.9])


def seeded():
    return random.Random(3).sample(range(100), 5)
