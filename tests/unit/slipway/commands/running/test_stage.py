"""`slipway run`: what is uploaded, and what is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.commands.document.compose import Choices
from slipway.commands.document.diagnose import scripts_named
from slipway.commands.document.order import Order
from slipway.commands.running.stage import Options, staged
from slipway.failure import Failure

PREFIX = "$AZ_BATCHAI_MOUNT_ROOT/logs"
NOTHING = Options(Choices())


def test_a_script_goes_alone_with_a_job_json_made_for_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)")
    (tmp_path / "secret.txt").write_text("not asked for")

    with staged(tmp_path / "train.py", NOTHING, PREFIX) as folder:
        assert folder.name == "train"
        assert sorted(path.name for path in folder.iterdir()) == ["job.json", "train.py"]
        properties = json.loads((folder / "job.json").read_text())["properties"]
    assert properties["pyTorchSettings"]["pythonScriptFilePath"] == "<SLIPWAY_FOLDER>/train.py"
    assert not folder.exists()
    assert not (tmp_path / "job.json").exists()


def test_a_folder_with_one_script_goes_whole(tmp_path: Path) -> None:
    (tmp_path / "digits/lib").mkdir(parents=True)
    (tmp_path / "digits/train.py").write_text("print(1)")
    (tmp_path / "digits/lib/model.py").write_text("")

    with staged(tmp_path / "digits", NOTHING, PREFIX) as folder:
        assert {path.name for path in folder.rglob("*.*")} == {"job.json", "train.py", "model.py"}


def test_a_folder_with_a_job_json_goes_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    with staged(tmp_path, NOTHING, PREFIX) as folder:
        assert folder == tmp_path
    with pytest.raises(Failure, match="change it there"), staged(tmp_path, Options(Choices(nodes=2)), PREFIX):
        pass


def test_a_job_json_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)")
    (tmp_path / "job.json").write_text("mine")

    with (
        pytest.raises(Failure, match="is there already"),
        staged(tmp_path / "train.py", Options(Choices(), keep=True), PREFIX),
    ):
        pass

    assert (tmp_path / "job.json").read_text() == "mine"


@pytest.mark.parametrize("names", [(), ("a.py", "b.py")])
def test_which_script_runs_has_to_be_clear(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(Failure, match="--script"), staged(tmp_path, NOTHING, PREFIX):
        pass


def test_one_of_several_scripts_is_named(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).touch()

    with staged(tmp_path, Options(Choices(), script="b.py"), PREFIX) as folder:
        properties = json.loads((folder / "job.json").read_text())["properties"]
        assert sorted(path.name for path in folder.iterdir()) == ["a.py", "b.py", "job.json"]

    assert properties["pyTorchSettings"]["pythonScriptFilePath"].endswith("/b.py")


@pytest.mark.parametrize(("path", "script"), [(".", "c.py"), (".", "../a.py"), ("a.py", "a.py")])
def test_a_script_that_the_folder_does_not_have_is_refused(tmp_path: Path, path: str, script: str) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path.parent / "a.py").touch()
    options = Options(Choices(), script=script)
    with pytest.raises(Failure, match="--script"), staged(tmp_path / path, options, PREFIX):
        pass


def test_packages_that_a_folder_lists_are_installed_on_each_node(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "requirements.txt").write_text("six\n")

    with staged(tmp_path, Options(Choices(environment={"PYTHONPATH": "lib"})), PREFIX) as folder:
        properties = json.loads((folder / "job.json").read_text())["properties"]
    with staged(tmp_path / "train.py", NOTHING, PREFIX) as folder:
        alone = json.loads((folder / "job.json").read_text())["properties"]

    packages = "$AZ_BATCHAI_JOB_TEMP/packages"
    assert (
        f'--target "{packages}" -r "<SLIPWAY_FOLDER>/requirements.txt"'
        in (properties["jobPreparation"]["commandLine"])
    )
    assert properties["environmentVariables"] == [{"name": "PYTHONPATH", "value": f"{packages}:lib"}]
    assert "jobPreparation" not in alone


def test_a_script_that_leaves_files_behind_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("data.csv", "unused.csv", "model.py", "os.py"):
        (tmp_path / name).touch()
    script = tmp_path / "train.py"
    script.write_text("from model import Net\nopen('data.csv')\n")

    with staged(script, NOTHING, PREFIX):
        shown = capsys.readouterr().err

    assert "it names data.csv, model.py beside it" in shown
    assert f"slipway run --script train.py {tmp_path}" in shown


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(Failure, match="name a script, or a folder with one"),
        staged(tmp_path / "x", NOTHING, PREFIX),
    ):
        pass


def test_a_cluster_goes_into_a_slipway_json_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)")
    options = Options(Choices(cluster="slurm", gpus=2), keep=True)

    with staged(tmp_path / "train.py", options, PREFIX) as folder:
        staged_envelope = json.loads((folder / "slipway.json").read_text())

    assert staged_envelope == {"cluster": "slurm", "resources": {"gpus": 2}}
    assert json.loads((tmp_path / "slipway.json").read_text()) == staged_envelope


def test_a_cluster_replaces_that_of_a_folder_and_leaves_the_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    (tmp_path / "slipway.json").write_text('{"cluster": "old", "labels": {"team": "vision"}}')

    with staged(tmp_path, Options(Choices(cluster="new")), PREFIX) as folder:
        assert folder.name == tmp_path.name
        assert json.loads((folder / "slipway.json").read_text()) == {
            "cluster": "new",
            "labels": {"team": "vision"},
        }
        assert (folder / "job.json").read_text() == "{}"

    assert '"old"' in (tmp_path / "slipway.json").read_text()
    (tmp_path / "slipway.json").write_text("[]")
    with (
        pytest.raises(Failure, match="not a JSON object"),
        staged(tmp_path, Options(Choices(cluster="new")), PREFIX),
    ):
        pass


def test_jobs_to_wait_for_join_those_that_a_folder_names(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    (tmp_path / "slipway.json").write_text('{"after": ["data"], "name": "x"}')
    order = Order(["j_1"], ["j_2"])

    with staged(tmp_path, Options(Choices(order=order)), PREFIX) as folder:
        assert json.loads((folder / "slipway.json").read_text()) == {
            "name": "x",
            "after": ["data", "j_1"],
            "afterFailure": ["j_2"],
        }


def test_gpus_leave_what_else_a_folder_asks_for(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    (tmp_path / "slipway.json").write_text('{"resources": {"gpus": 4, "memory": "16G"}}')

    with staged(tmp_path, Options(Choices(gpus=1)), PREFIX) as folder:
        assert json.loads((folder / "slipway.json").read_text()) == {
            "resources": {"gpus": 1, "memory": "16G"}
        }


def test_a_job_json_that_was_kept_for_a_script_runs_its_folder_under_any_name(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)")
    with staged(tmp_path / "train.py", Options(Choices(), keep=True), PREFIX):
        pass

    file = tmp_path / "job.json"
    assert scripts_named(file, "train") == ("train/train.py",)
    assert scripts_named(file, "team/other") == ("team/other/train.py",)


def test_what_is_refused_names_no_temporary_place(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)")

    with (
        pytest.raises(Failure, match=r"^job\.json:1:2: it is wrong$"),
        staged(tmp_path / "train.py", NOTHING, PREFIX) as folder,
    ):
        raise Failure(f"{folder}/job.json:1:2: it is wrong")


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("my project", "my-project"),
        ("Größe (2)", "Groe-2"),
        ("-x- ", "x"),
        ("數據", "數據"),
        ("$", ""),
        ("a.b_c-1", "a.b_c-1"),
    ],
)
def test_a_folder_may_have_any_name(tmp_path: Path, folder: str, name: str) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "train.py").touch()
    if not name:
        with (
            pytest.raises(Failure, match="name the folder with --name"),
            staged(tmp_path / folder, NOTHING, PREFIX),
        ):
            pass
        return
    with staged(tmp_path / folder, NOTHING, PREFIX) as copied:
        assert copied.name == name


def test_data_of_a_folder_is_not_copied_and_files_that_are_written_to_are(tmp_path: Path) -> None:
    folder = tmp_path / "digits"
    folder.mkdir()
    (folder / "train.py").touch()
    (folder / "data.csv").write_text("1")
    (folder / "slipway.json").write_text("{}")
    options = Options(Choices(cluster="dev"))

    with staged(folder, options, PREFIX) as copied:
        assert (copied / "data.csv").resolve() == folder / "data.csv"
        assert json.loads((copied / "slipway.json").read_text()) == {"cluster": "dev"}

    assert (folder / "slipway.json").read_text() == "{}"
    assert (folder / "data.csv").read_text() == "1"
