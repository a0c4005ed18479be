"""The answer of a run: ratios taken within one round, median and spread, for JSON and Markdown. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

Round = dict[str, float]
_TRIPS, _TRIPS_99 = "four round trips p50 ms", "four round trips p99 ms"
_COST = "pass 10000 2% CPU µs/job"


#: The lists of which pages are measured.
LISTS = ("all", "since", "state", "running", "experiment", "cluster")


@dataclass(frozen=True)
class Target:
    """What is asked of the project: a figure, the one that it is divided by, and how large that may be."""

    title: str
    above: str
    #: "" for a count or a bound that is not a ratio
    below: str = ""
    least: float | None = None
    most: float | None = None

    def values(self, rounds: Sequence[Round]) -> list[float]:
        """The ratio in each round that has both figures."""
        return [
            one[self.above] / (one[self.below] if self.below else 1.0)
            for one in rounds
            if self.above in one and (not self.below or self.below in one)
        ]

    @property
    def bound_text(self) -> str:
        """The bound with its unit, as the table shows it."""
        if self.least is not None:
            return f"≥ {self.least:g}"
        return f"≤ {self.most:g}" if self.most is not None else ""

    def reached(self, median: float) -> bool | None:
        """None where nothing is asked."""
        if self.least is not None:
            return median >= self.least
        return median <= self.most if self.most is not None else None


TARGETS = (
    Target("SDK floor / raw floor", "floor SDK jobs/s", "floor raw jobs/s"),
    Target("no-op engine / raw floor", "no-op jobs/s", "floor raw jobs/s", least=1.0),
    Target("emulator / raw floor", "emulator jobs/s", "floor raw jobs/s"),
    Target("no-op engine / Celery, loopback", "no-op jobs/s", "Celery jobs/s", least=0.75),
    Target(
        "no-op engine / Celery, with round trip", "no-op with RTT jobs/s", "Celery with RTT jobs/s", least=4
    ),
    Target("emulator / Celery with /bin/true", "emulator jobs/s", "Celery true jobs/s"),
    Target("emulator with round trip / emulator", "emulator with RTT jobs/s", "emulator jobs/s"),
    Target("requests a job, no-op engine", "no-op requests/job", most=3.0),
    Target("requests a job, emulator", "emulator requests/job"),
    Target("worker CPU a job / Celery's", "no-op worker CPU ms/job", "Celery worker CPU ms/job", most=1.0),
    Target("idle: message → submitted / four round trips, p50", "message to submitted p50 ms", _TRIPS),
    Target("idle: message → submitted / four round trips, p99", "message to submitted p99 ms", _TRIPS_99),
    Target("idle: message → webhook / four round trips, p50", "message to webhook p50 ms", _TRIPS, most=4),
    Target("idle: message → webhook / four round trips, p99", "message to webhook p99 ms", _TRIPS_99),
    Target("idle: drop → submitted / four round trips, p50", "drop to submitted p50 ms", _TRIPS),
    Target("idle: drop → submitted / four round trips, p99", "drop to submitted p99 ms", _TRIPS_99),
    Target("idle: end of job → webhook / four round trips, p50", "end of job to webhook p50 ms", _TRIPS),
    Target("idle: end of job → webhook / four round trips, p99", "end of job to webhook p99 ms", _TRIPS_99),
    Target("idle: worker CPU a minute / Celery's", "idle app worker CPU ms/min", "idle Celery CPU ms/min"),
    Target("idle: app with host / whole stack, CPU", "idle app CPU ms/min", "idle stack CPU ms/min"),
    Target("idle: app / whole stack, requests", "idle app requests/min", "idle stack requests/min"),
    Target("pass over 10,000, 2 % changed: CPU µs a job", _COST, most=60),
    Target("pass over 10,000, 2 %: calls of the engine", "pass 10000 2% engine calls", most=10),
    Target("pass over 10,000, 2 %: calls of the table", "pass 10000 2% table table calls", most=20),
    Target("pass over 10,000 / SDK list", _COST, "SDK list CPU µs/job", most=0.25),
    Target("pass over 10,000 / SDK GET", _COST, "SDK GET CPU µs/job", most=0.07),
    *(
        Target(f"a page of a {kind} / bare ranges", f"{kind} ms", f"{kind} bare ms", most=1.5)
        for length in ("list", "long list")
        for kind in (f"{length} {question}" for question in LISTS)
    ),
    Target("import of the app / of every SDK, CPU", "import app ms", "import eager ms", most=0.40),
    Target("import of the app / of every SDK, modules", "import app modules", "import eager modules"),
    Target(
        "first message: worker CPU / import of every SDK", "first message worker CPU ms", "import eager ms"
    ),
    *(
        Target(f"download of {name}, {way} / {title}", f"download {kind} {way} MB/s", bare, least=least)
        for kind, name in (("one", "one file"), ("many", "many files"))
        for title, bare, bound in (
            ("bare GETs", f"download {kind} bare MB/s", 0.8),
            ("discarded GETs", f"download {kind} discarded MB/s", None),
        )
        for way, least in (("direct", bound), ("through the app", None))
    ),
    Target("download of one file: worker MiB above idle", "download one worker MiB above idle", most=64),
    Target("download of many files: worker MiB above idle", "download many worker MiB above idle", most=64),
    Target(
        "download, eight callers at once: worker MiB above idle",
        "download callers worker MiB above idle",
        most=64,
    ),
    Target(
        "run of 1,000 new files / data put of as many",
        "code, run of many files, new s",
        "code, data put of as many s",
        most=1,
    ),
    *(
        Target(f"{name}: requests of {who}", f"code, {name} {who} requests", most=most)
        for name in ("run of 1 file", "run of many files, new", "run of many files, known")
        for who, most in (("client", 4), ("node", 2))
    ),
    Target("dollars per million jobs, no-op engine", "no-op $/million", most=2.50),
    Target("a document / parsing its text", "document µs", "document json.loads µs"),
)


def ratios(rounds: Sequence[Round]) -> list[dict[str, object]]:
    """Every target for which there are figures: all rounds, the median, what is wanted."""
    lines = []
    for target in TARGETS:
        if values := target.values(rounds):
            median = statistics.median(values)
            members: dict[str, object] = (
                {"wanted": target.bound_text, "reached": target.reached(median)} if target.bound_text else {}
            )
            lines.append({"title": target.title, "median": median, "rounds": values, **members})
    return lines


def markdown(about: str, rounds: Sequence[Round]) -> str:
    """The ratios, then every figure: median and spread over the rounds."""
    lines = [
        f"{about}, {len(rounds)} rounds",
        "",
        "| | median | spread | wanted | |",
        "|---|---|---|---|---|",
    ]
    for target in TARGETS:
        if values := target.values(rounds):
            median = statistics.median(values)
            words = {True: "reached", False: "missed", None: ""}[target.reached(median)]
            lines.append(
                f"| {target.title} | {_number(median)} | {_spread(values)} | {target.bound_text} | {words} |"
            )
    lines += ["", "| figure | median | spread |", "|---|---|---|"]
    for name in dict.fromkeys(name for one in rounds for name in one):
        values = [one[name] for one in rounds if name in one]
        lines.append(f"| {name} | {_number(statistics.median(values))} | {_spread(values)} |")
    return "\n".join(lines) + "\n"


def _spread(values: Sequence[float]) -> str:
    return f"{_number(min(values))} … {_number(max(values))}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
