"""What engines declare: all of it, and the table of the page is made of that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.core.abilities import ABILITIES
from shared.core.engine import ClusterView, Engine
from shared.core.errors import Misconfigured, NotFound
from shared.core.job import Target
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.wire.sign import SharedKey
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.engine import BatchAIEngine
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.wire.access import Access
from shared.engines.kubernetes.wire.bearer import FixedToken
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.slurm.cluster import clusters_from
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.wire.key import SigningKey
from shared.jobspec import JobSpec
from slipway.engines_page import ENGINES, PAGE, page, table
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import CLUSTER, job_json

BARE = {"url": "https://head:6820", "user": "slipway", "shared": "/shared/slipway"}
SLURM = SlurmEngine(clusters_from({"gpu": BARE}, "x"), {"gpu": SigningKey(b"k" * 32)})
BATCH_AI = BatchAIEngine(Workspace("https://x", "s", "g", "w"))
AZURE_BATCH = BatchEngine(
    {"gpu": BatchCluster("gpu", "https://a.b.batch.azure.com", "t4", "/shared", max_nodes=4)},
    {"gpu": SharedKey("a", b"k" * 32)},
)
KUBERNETES = KubernetesEngine(
    {"gpu": KubernetesCluster("gpu", shared="/data", volumes={"/data": "pvc:data"}, image="python:3.13")},
    {"gpu": KubernetesClient(Access("https://x"), FixedToken(""))},
)
BY_NAME: dict[str, Engine] = {
    "batchai": BATCH_AI,
    "slurm": SLURM,
    "batch": AZURE_BATCH,
    "kubernetes": KUBERNETES,
}
FIXED = ClusterView("gpu", "x", "steady", 2, {}, 2, 2, "", priority="dedicated")
ELASTIC = replace(FIXED, minimum=0, priority="lowpriority")


def test_the_table_of_the_page_is_the_generated_one() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"\n\n{table()}\n\n" in page(text)
    assert text == page(text), "write it with `python -m slipway.engines_page`"


@pytest.mark.parametrize("engine", [MemoryEngine(), *BY_NAME.values()], ids=["memory", *BY_NAME])
def test_every_engine_declares_every_ability(engine: Engine) -> None:
    assert engine.capabilities("gpu").keys() == ABILITIES.keys()


@pytest.mark.parametrize("name", ["batch", "kubernetes", "slurm"])
async def test_files_are_looked_for_under_the_cluster_s_name_in_any_case(name: str) -> None:
    target = Target(engine=name, cluster="GPU", experiment="e", name="n", token="t")
    with pytest.raises(NotFound, match="the files of gpu cannot be seen from here"):
        await BY_NAME[name].page(target, "stdouterr", "", "")


def test_every_engine_is_tried() -> None:
    assert BY_NAME.keys() == ENGINES.keys(), "add an instance to BY_NAME"


@pytest.mark.parametrize("name", BY_NAME)
def test_a_cluster_answers_as_the_table_does_and_yes_or_no_where_that_depends_on_it(name: str) -> None:
    for view in (FIXED, ELASTIC):
        for ability, answer in BY_NAME[name].capabilities("gpu", view).items():
            declared = ENGINES[name][ability].answer
            assert answer.answer in (("yes", "no") if declared == "configured" else (declared,)), ability


def test_a_slurm_cluster_answers_by_its_options() -> None:
    options = {
        **BARE,
        "container": "apptainer",
        "mounts": {"ACCOUNT/data": "/d", "/subscriptions/x/fileServers/nfs": "/n"},
        "priorities": {"low": "scavenge"},
        "reads": {"/shared": "/mnt"},
        "accounting": True,
    }
    full = SlurmEngine(clusters_from({"gpu": options}, "x"), {}).capabilities("gpu", ELASTIC)
    bare = SLURM.capabilities("gpu", FIXED)
    request = ("containers", "shares", "servers", "priorities", "logs", "elastic", "preemptible")

    assert {full[name].answer for name in request} == {"yes"}
    assert {bare[name].answer for name in request} == {"no"}
    assert full["containers"].note == "by `apptainer`"
    assert full["ended"].note == "by the run's record (`reads`), slurmdbd (`accounting`), asking the nodes"
    assert bare["ended"].note == "by asking the nodes"


def test_logs_need_the_shared_directory_itself_where_the_app_sees_it() -> None:
    for reads, answer in (({"/shared/slipway": "/m"}, "yes"), ({"/share": "/m"}, "no"), ({"/": "/m"}, "yes")):
        engine = SlurmEngine(clusters_from({"gpu": {**BARE, "reads": reads}}, "x"), {})
        assert engine.capabilities("gpu")["logs"].answer == answer


def test_whether_nodes_come_and_go_is_open_until_the_cluster_has_shown_them() -> None:
    hidden = replace(ELASTIC, maximum=0)
    for engine in (BATCH_AI, SLURM):
        assert engine.capabilities("gpu")["elastic"].answer == "configured"
    assert SLURM.capabilities("gpu", hidden)["elastic"].answer == "configured"


def test_a_cluster_that_is_not_configured_has_no_answers() -> None:
    with pytest.raises(Misconfigured, match="nowhere"):
        SLURM.capabilities("nowhere")


def test_a_cluster_on_azure_batch_answers_by_its_options() -> None:
    options = {
        "mounts": {"ACCOUNT/data": "/d", "/subscriptions/x/fileServers/nfs": "/n"},
        "reads": {"/shared": "/mnt"},
        "spot": True,
    }
    full, bare = (
        BatchEngine(
            {"gpu": BatchCluster("gpu", "https://a.b.batch.azure.com", "t4", "/shared", **one)},
            {"gpu": SharedKey("a", b"k" * 32)},
        ).capabilities("gpu")
        for one in (options, {"scales": False})
    )
    names = ("servers", "logs", "elastic", "preemptible")

    assert {full[name].answer for name in names} == {"yes"}
    assert {bare[name].answer for name in names} == {"no"}


def _prefixes(name: str, prefix: str) -> list[tuple[str, str, str]]:
    document = job_json(
        stdOutErrPathPrefix=prefix,
        outputDirectories=[{"id": "MODEL", "pathPrefix": prefix, "pathSuffix": "m"}],
    )
    document["properties"]["cluster"] = {"id": f"{CLUSTER.id.rpartition('/')[0]}/gpu"}
    problems = BY_NAME[name].check(JobSpec.model_validate(document))
    return [(one.code, one.severity, one.pointer) for one in problems]


#: Engines whose nodes share the home directory of the job's user.
_SHARES_HOME = {"slurm"}


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("prefix", ["$HOME", "$HOME/logs", "${HOME}/logs"])
def test_results_in_a_home_that_goes_with_the_node_are_a_warning(name: str, prefix: str) -> None:
    places = ("/properties/stdOutErrPathPrefix", "/properties/outputDirectories/0/pathPrefix")
    warnings = [] if name in _SHARES_HOME else [("SW033", "warning", at) for at in places]

    assert _prefixes(name, prefix) == warnings


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("prefix", ["$HOMES/logs", "/mnt/$HOME", "$AZ_BATCHAI_MOUNT_ROOT/logs"])
def test_results_elsewhere_are_no_warning_of_the_home(name: str, prefix: str) -> None:
    assert _prefixes(name, prefix) == []
