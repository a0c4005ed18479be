"""The jobs in the pictures of the README: a day of two teams, whose programs print what a training does."""

from __future__ import annotations

from typing import Any

#: Prints its numbers, and a line in five epochs; where it has to fail, the data is missing at the end.
TRAIN = """\
import argparse, json, math, random, sys, time


def loader(path, epoch):
    shard = path + f"/train-{epoch:05d}.tfrecord"
    return open(shard, "rb")


def main():
    parser = argparse.ArgumentParser()
    for name, usual in (("--lr", 0.05), ("--epochs", 30), ("--pause", 0.1)):
        parser.add_argument(name, type=float, default=usual)
    parser.add_argument("--data", default="")
    args = parser.parse_args()
    random.seed(args.lr)
    print(f"training resnet50, batch 256, lr {args.lr:g}")
    for epoch in range(1, int(args.epochs) + 1):
        part = math.exp(-epoch * 25 * args.lr / args.epochs)
        loss = 0.35 + 1.9 * part + random.uniform(-0.03, 0.03)
        numbers = {"epoch": epoch, "train_loss": loss, "val_loss": loss * 1.08 + random.uniform(0.05, 0.1)}
        accuracy = 0.82 - 0.6 * part + random.uniform(-0.01, 0.01)
        print(json.dumps({"slipway": {**numbers, "accuracy": accuracy}}))
        if epoch % 10 == 0:
            print(f"epoch {epoch}  loss {loss:.4f}  acc {accuracy:.3f}")
        time.sleep(args.pause)
    if args.data:
        print("UserWarning: the loader is slow (4 workers, 1.9 s a batch)", file=sys.stderr)
        loader(args.data, 17)


main()
"""
_FOLDER = "$AZ_BATCHAI_JOB_TEMP"
#: The name of the program in a traceback is short then.
_RUN = f"""cd {_FOLDER} && python3 -u -c "exec(compile(open('train.py').read(), 'train.py', 'exec'))\""""


def training(options: str = "", nodes: int = 1, limit: str = "PT1H") -> dict[str, Any]:
    """A job.json that runs this program."""
    return {
        "properties": {
            "nodeCount": nodes,
            "environmentVariables": [{"name": "PROGRAM", "value": TRAIN}],
            "jobPreparation": {"commandLine": f'printf %s "$PROGRAM" > {_FOLDER}/train.py'},
            "customToolkitSettings": {"commandLine": f"{_RUN} {options}"},
            "constraints": {"maxWallClockTime": limit},
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        }
    }


def command(line: str) -> dict[str, Any]:
    """A job.json that runs one command."""
    usual = training()["properties"]
    prefix = usual["stdOutErrPathPrefix"]
    settings = {"commandLine": line}
    return {"properties": {"nodeCount": 1, "customToolkitSettings": settings, "stdOutErrPathPrefix": prefix}}


TEAMS = {
    "default": "vision",
    "teams": {"vision": {"quota": {"nodes": 3, "gpuHours": 20_000}}, "speech": {}},
}
FAILED, SWEEP = "resnet50-imagenet-baseline", "tune-lr"
#: Those that end, and those that go on.
ENDING: dict[str, dict[str, Any]] = {
    **{
        f"nightly-{number:03}": {
            "spec": command(f"echo 'AssertionError: shard {number} is empty' >&2; exit 1"),
            "experiment": "nightly",
        }
        for number in range(6)
    },
    FAILED: {"spec": training("--epochs 70 --pause 0.2 --data /data/imagenet"), "experiment": "imagenet"},
    "bert-finetune": {"spec": training("--pause 0.05"), "experiment": "bert", "team": "speech"},
}
TRIALS = {
    "name": SWEEP,
    "experiment": "imagenet",
    "sweep": {"lr": [0.01, 0.03, 0.1, 0.2, 0.3, 0.5]},
    "parallel": 3,
    "spec": training("--lr {lr} --epochs 40 --pause 0.05"),
}
GOING: dict[str, dict[str, Any]] = {
    "resnet50-imagenet-cosine": {
        "spec": training("--epochs 2000 --pause 1", limit="PT4M"),
        "experiment": "imagenet",
    },
    "speech-conformer-large": {
        "spec": training("--epochs 2000 --pause 1", nodes=2, limit="PT10M"),
        "team": "speech",
        "experiment": "conformer",
    },
    "vit-pretrain-2-nodes": {
        "spec": training("--epochs 2000 --pause 1", nodes=2, limit="PT6M"),
        "experiment": "vit",
    },
    "vit-finetune": {"spec": training(nodes=2), "experiment": "vit"},
    "too-big": {"spec": training(nodes=9), "team": "speech", "experiment": "conformer"},
}
