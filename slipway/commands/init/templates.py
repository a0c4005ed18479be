"""The templates of `slipway init`: scripts, and how they are started."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The directory for a script's output.
_OUTPUT = 'pathlib.Path(os.environ["AZ_BATCHAI_OUTPUT_MODEL"])'

_PYTHON = f'''"""Fit a line. What is written below $AZ_BATCHAI_OUTPUT_MODEL can be downloaded."""

import argparse
import json
import os
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--lr", type=float, default=0.1)
options = parser.parse_args()

points = [(x / 10, 3 * x / 10 + 1) for x in range(10)]
slope = offset = 0.0
for epoch in range(options.epochs):
    for x, y in points:
        error = slope * x + offset - y
        slope, offset = slope - options.lr * error * x, offset - options.lr * error
    loss = sum((slope * x + offset - y) ** 2 for x, y in points) / len(points)
    print(json.dumps({{"slipway": {{"epoch": epoch, "loss": loss}}}}), flush=True)

model = {_OUTPUT} / "model.json"
model.write_text(json.dumps({{"slope": slope, "offset": offset}}))
'''

_PYTORCH = f'''"""Train one model on all nodes, each with its part of the data (DistributedDataParallel)."""

import argparse
import os
import pathlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--world-size", type=int, required=True)
parser.add_argument("--epochs", type=int, default=5)
options = parser.parse_args()

rank = int(os.environ["AZ_BATCHAI_TASK_INDEX"])
where = os.environ["AZ_BATCHAI_PYTORCH_INIT_METHOD"]
dist.init_process_group("gloo", init_method=where, rank=rank, world_size=options.world_size)
torch.manual_seed(rank)
x = torch.randn(1000, 8)
y = x.sum(dim=1, keepdim=True)
model = DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(options.epochs):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"epoch {{epoch}}: loss {{loss.item():.4f}}", flush=True)
if rank == 0:
    torch.save(model.module.state_dict(), {_OUTPUT} / "model.pt")
dist.destroy_process_group()
'''

_TENSORFLOW = f'''"""Train a model with Keras on one node."""

import argparse
import os
import pathlib

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
options = parser.parse_args()

x = np.random.default_rng(0).normal(size=(1000, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, y, epochs=options.epochs, verbose=2)
model.save({_OUTPUT} / "model.keras")
'''

_HOROVOD = f'''"""Train one model on all nodes, each with its part of the data (Horovod with Keras)."""

import argparse
import os
import pathlib

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
options = parser.parse_args()

hvd.init()
x = np.random.default_rng(hvd.rank()).normal(size=(1000, 8)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.01 * hvd.size()))
model.compile(optimizer=optimizer, loss="mse")
start = hvd.callbacks.BroadcastGlobalVariablesCallback(0)
model.fit(x, y, epochs=options.epochs, callbacks=[start], verbose=2 if hvd.rank() == 0 else 0)
if hvd.rank() == 0:
    model.save({_OUTPUT} / "model.keras")
'''


@dataclass(frozen=True)
class Template:
    """A script, the toolkit that starts it on a number of nodes, and the toolkit's members beside the script.

    What it imports comes from packages that each node installs, or from an image.
    """

    script: str
    toolkit: str
    nodes: int = 1
    members: Mapping[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    image: str = ""


TEMPLATES: Mapping[str, Template] = {
    "python": Template(_PYTHON, "pyTorchSettings"),
    "pytorch-distributed": Template(
        _PYTORCH,
        "pyTorchSettings",
        2,
        {"commandLineArgs": "--world-size 2", "communicationBackend": "Gloo"},
        packages=("torch", "numpy"),
    ),
    "tensorflow": Template(_TENSORFLOW, "tensorFlowSettings", packages=("tensorflow",)),
    # Horovod is built for one version of MPI and of TensorFlow; its own image has all three.
    "horovod": Template(_HOROVOD, "horovodSettings", 2, image="horovod/horovod:master"),
}

_FIT = (
    "import json; lr, x = {lr}, 1.0\n"
    "for epoch in range({epochs}):\n"
    "    x -= lr * 2 * x\n"
    "    print(json.dumps(dict(slipway=dict(epoch=epoch, loss=x * x))), flush=True)\n"
)
#: A message with a sweep: the job of each combination descends a slope for some epochs.
SWEEP: Mapping[str, Any] = {
    "name": "sweep",
    "sweep": {"lr": [0.3, 0.1, 0.03], "epochs": [5, 10]},
    "parallel": 2,
    "spec": {
        "properties": {
            "nodeCount": 1,
            "customToolkitSettings": {"commandLine": f"python3 -c '{_FIT}'"},
        }
    },
}
