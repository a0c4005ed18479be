"""Trains a classifier of handwritten digits, alone or data-parallel on the nodes of a job.

Every process holds its own part of the training images. In each step all of them work on the same batch,
each on the images that it holds, add up their gradients, and take the same step: the model is the one that a
single process would reach with all the images. By itself: `python train.py`. As a job: job.json beside this.
"""

import argparse
import json
import os
import secrets
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
PIXELS, HIDDEN, CLASSES = 64, 256, 10
PATIENCE = 120.0  # seconds that one process waits for another


class Model:
    """A perceptron with one hidden layer; all its parameters in one vector, so that a step is one sum."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        shapes = [(PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]
        self.vector: Floats = np.zeros(sum(int(np.prod(shape)) for shape in shapes))
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = [
            part.reshape(shape) for part, shape in zip(np.split(self.vector, ends[:-1]), shapes, strict=True)
        ]
        self.w1, self.b1, self.w2, self.b2 = parts
        self.w1[:] = random.normal(0, np.sqrt(2 / PIXELS), self.w1.shape)
        self.w2[:] = random.normal(0, np.sqrt(2 / HIDDEN), self.w2.shape)

    def scores(self, images: Floats) -> tuple[Floats, Floats]:
        """The hidden layer, and the probability of each digit."""
        hidden = np.maximum(images @ self.w1 + self.b1, 0)
        scores = hidden @ self.w2 + self.b2
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, scores / scores.sum(axis=1, keepdims=True)

    def gradient(self, images: Floats, labels: Labels) -> tuple[Floats, float, int]:
        """Sums over these images: the gradient, the loss, and how many were recognised."""
        hidden, chance = self.scores(images)
        rows = np.arange(len(labels))
        loss = -float(np.log(chance[rows, labels] + 1e-12).sum())
        right = int((chance.argmax(axis=1) == labels).sum())
        error = chance
        error[rows, labels] -= 1
        back = (error @ self.w2.T) * (hidden > 0)
        parts = [images.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
        return np.concatenate([part.ravel() for part in parts]), loss, right

    def accuracy(self, images: Floats, labels: Labels) -> float:
        """The share of the images that it recognises."""
        return float((self.scores(images)[1].argmax(axis=1) == labels).mean())


class Group:
    """The processes of one job. The first listens on its node's address and adds up what the others send it.

    They find it by a file in the folder that the job's nodes share, with a token that keeps strangers out.
    """

    def __init__(self, rank: int, size: int, *, host: str, meeting: Path) -> None:
        self.rank, self.size, self.host, self.meeting = rank, size, host, meeting
        self.peers: dict[int, socket.socket] = {}

    def __enter__(self) -> Self:
        if self.size > 1 and self.rank == 0:
            self._gather()
        elif self.size > 1:
            self.peers[0] = self._join()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for peer in self.peers.values():
            peer.close()

    def sum(self, mine: Floats) -> Floats:
        """The sum over all processes, the same to the last bit in each of them."""
        if self.size == 1:
            return mine
        if self.rank > 0:
            self.peers[0].sendall(mine.tobytes())
            return np.frombuffer(_receive(self.peers[0], mine.nbytes))
        total = mine.copy()
        for _, peer in sorted(self.peers.items()):
            total += np.frombuffer(_receive(peer, mine.nbytes))
        for peer in self.peers.values():
            peer.sendall(total.tobytes())
        return total

    def _gather(self) -> None:
        token = secrets.token_hex(16)
        with socket.create_server((self.host, 0)) as server:
            server.settimeout(PATIENCE)
            draft = self.meeting.with_suffix(".draft")
            draft.write_text(json.dumps([self.host, server.getsockname()[1], token]))
            draft.replace(self.meeting)  # whole or not at all: others may be reading
            while len(self.peers) < self.size - 1:
                peer = _prepared(server.accept()[0])
                if _receive(peer, len(token)).decode() == token:
                    self.peers[int.from_bytes(_receive(peer, 4))] = peer
        self.meeting.unlink()

    def _join(self) -> socket.socket:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                host, port, token = json.loads(self.meeting.read_text())
                peer = _prepared(socket.create_connection((host, port), timeout=PATIENCE))
                peer.sendall(token.encode() + self.rank.to_bytes(4))
                return peer
            except OSError:  # not there yet, or left by an earlier run
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def main() -> None:
    """Train, report the progress in lines, and let the first process write the result."""
    options = _options()
    hosts = os.environ.get("AZ_BATCH_HOST_LIST", "127.0.0.1").split(",")
    rank = int(os.environ.get("AZ_BATCHAI_TASK_INDEX", "0"))
    size = options.processes or len(hosts)
    began = time.monotonic()
    images, labels, test_images, test_labels = _digits(options.seed)
    mine = np.arange(rank, len(labels), size)  # this process keeps the images rank, rank + size, ...
    images, labels, count = images[mine], labels[mine], len(labels)
    say(f"rank {rank} of {size}: {len(labels)} of {count} training images")

    model = Model(options.seed)
    order = np.random.default_rng(options.seed + 1)
    speed = np.zeros_like(model.vector)
    # One thread of linear algebra in each process: they share the cores.
    with threadpool_limits(1), Group(rank, size, host=hosts[0], meeting=_meeting_place()) as group:
        for epoch in range(1, options.epochs + 1):
            loss, right = 0.0, 0.0
            shuffled = order.permutation(count)
            for batch in np.array_split(shuffled, count // options.batch):
                rows = batch[batch % size == rank] // size
                gradient, *sums = model.gradient(images[rows], labels[rows])
                total = group.sum(np.append(gradient, sums))
                loss, right = loss + total[-2], right + total[-1]
                speed = options.momentum * speed - options.rate * total[:-2] / len(batch)
                model.vector += speed
            say(f"epoch {epoch}/{options.epochs}  loss {loss / count:.4f}  accuracy {right / count:.4f}")
            if rank == 0:
                _report(epoch, {"loss": loss / count, "accuracy": right / count})
    if rank == 0:
        accuracy = model.accuracy(test_images, test_labels)
        seconds = time.monotonic() - began
        say(f"test accuracy {accuracy:.4f} on {len(test_labels)} images, {seconds:.1f} s, {size} processes")
        facts = {"nodes": len(hosts), "processes": size, "epochs": options.epochs}
        _write(model, {"accuracy": accuracy, **facts, "seconds": round(seconds, 3)})


def say(line: str) -> None:
    """One line of progress, at once: it is read while the job runs."""
    print(line, flush=True)  # noqa: T201 - standard output is where a job's progress goes


def _prepared(peer: socket.socket) -> socket.socket:
    peer.settimeout(PATIENCE)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


def _receive(peer: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    view = memoryview(data)
    while view:
        count = peer.recv_into(view)
        if not count:
            raise ConnectionError("another process of the job ended before the training was over")
        view = view[count:]
    return data


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a classifier of handwritten digits.")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=128, help="images in a step, over all processes")
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--processes", type=int, help="default: one for each host of the job")
    return parser.parse_args()


def _digits(seed: int) -> tuple[Floats, Labels, Floats, Labels]:
    """The 1797 images of scikit-learn: a fifth for the test, the others also moved by a pixel each way."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(labels))
    images, labels = images[order] / 16.0, labels[order]
    held_out = len(labels) // 5
    squares = images[held_out:].reshape(-1, 8, 8)
    moves = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    moved = [np.roll(squares, move, axis=(1, 2)).reshape(-1, PIXELS) for move in moves]
    return np.concatenate(moved), np.tile(labels[held_out:], len(moves)), images[:held_out], labels[:held_out]


def _meeting_place() -> Path:
    return Path(os.environ.get("AZ_BATCHAI_SHARED_JOB_TEMP", ".")) / "digits-meeting.json"


def _output() -> Path:
    place = Path(os.environ.get("AZ_BATCHAI_OUTPUT_MODEL", "."))
    place.mkdir(parents=True, exist_ok=True)
    return place


def _report(epoch: int, numbers: dict[str, float]) -> None:
    """A line that `slipway metrics` reads while the job runs."""
    with (_output() / "metrics.jsonl").open("w" if epoch == 1 else "a", encoding="utf-8") as file:
        file.write(json.dumps({"epoch": epoch, **numbers}) + "\n")


def _write(model: Model, metrics: dict[str, float]) -> None:
    place = _output()
    np.savez(place / "model.npz", w1=model.w1, b1=model.b1, w2=model.w2, b2=model.b2)
    (place / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n")
    say(f"wrote model.npz and metrics.json to {place}")


if __name__ == "__main__":
    main()
