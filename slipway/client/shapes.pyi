"""The answers of the API, as they are on the wire. Generated: python -m functions.openapi"""

from typing import Any, Literal, NotRequired, TypedDict

class ProblemDocument(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    remedy: NotRequired[str]
    jobId: NotRequired[str]
    errors: NotRequired[list[Finding]]
    receipt: NotRequired[str]
    signIn: NotRequired[SignInWay]

class CancelledJob(TypedDict):
    id: str
    name: str
    state: str

class KeptJob(TypedDict):
    id: str
    name: str
    why: str
    again: NotRequired[bool]

class CancelledJobs(TypedDict):
    jobs: list[CancelledJob]
    refused: list[KeptJob]

class OtherNumber(ProblemDocument):
    number: NotRequired[int]

class JobCode(TypedDict):
    sha256: str
    bytes: int
    files: NotRequired[int]
    at: str
    origin: str

class SnapshotPlace(TypedDict):
    known: bool
    upload: NotRequired[str]
    expires: NotRequired[str]

class CodeEntry(TypedDict):
    name: str
    bytes: int
    executable: NotRequired[bool]
    link: NotRequired[str]
    escaped: NotRequired[bool]

class CodeListing(JobCode):
    entries: list[CodeEntry]
    more: bool
    text: NotRequired[str]
    url: str
    expires: str

class KubectlPlace(TypedDict):
    server: NotRequired[str]
    namespace: str
    pod: str
    container: str

class SrunPlace(TypedDict):
    job: str
    node: str
    login: NotRequired[str]
    user: str
    certificate: NotRequired[str]
    expires: NotRequired[str]

class SshPlace(TypedDict):
    host: str
    port: int
    user: str

class TaskPlace(TypedDict):
    pool: str
    node: str
    job: str
    task: str
    directory: str

class JobEntry(TypedDict):
    job: str
    attempt: int
    rank: int
    ranks: int
    kubectl: NotRequired[KubectlPlace]
    srun: NotRequired[SrunPlace]
    ssh: NotRequired[SshPlace]
    task: NotRequired[TaskPlace]
    heldUntil: NotRequired[str]
    reason: NotRequired[str]

class DeliveryTry(TypedDict):
    at: str
    status: int | None
    ms: int
    said: str

class EventDelivery(TypedDict):
    url: str
    state: Literal["pending", "delivered", "dead"]
    attempts: int
    last: str
    tries: list[DeliveryTry]
    next: NotRequired[str]

class JobEvent(TypedDict):
    id: str
    job: str
    sequence: int
    type: str
    state: Literal["pending", "delivered", "dead"]
    targets: list[EventDelivery]

class JobEvents(TypedDict):
    events: list[JobEvent]

class Redelivered(TypedDict):
    events: list[str]

class ReceiverTested(TypedDict):
    outcome: str
    status: int | None
    said: str
    ms: int

class DisabledReceiver(TypedDict):
    url: str
    since: str
    why: str

class DisabledReceivers(TypedDict):
    receivers: list[DisabledReceiver]

class ReceiverBreaker(TypedDict):
    state: Literal["open", "half-open"]
    since: str
    until: str

class ReceiverState(TypedDict):
    url: str
    state: Literal["disabled", "failing", "dead", "waiting"]
    since: NotRequired[str]
    next: NotRequired[str]
    last: str
    pending: int
    dead: int
    deadEvents: list[str]
    breaker: NotRequired[ReceiverBreaker]

class ReceiverStates(TypedDict):
    receivers: list[ReceiverState]

class DeadOne(TypedDict):
    id: str
    kind: Literal["message", "event"]
    queue: NotRequired[str]
    job: NotRequired[str]
    since: str
    reason: str
    sha256: NotRequired[str]

class DeadList(TypedDict):
    dead: list[DeadOne]

class Redriven(TypedDict):
    id: str
    kind: Literal["message", "event"]

class ErrorLines(TypedDict):
    file: str
    offset: int
    lines: list[str]

class ExpectedStart(TypedDict):
    earliest: NotRequired[str]
    latest: NotRequired[str]
    why: str

class JobAttempt(TypedDict):
    attempt: int
    name: str
    state: str
    acceptedAt: NotRequired[str]
    submittingAt: NotRequired[str]
    queuedAt: NotRequired[str]
    runningAt: NotRequired[str]
    endedAt: NotRequired[str]
    reason: NotRequired[str]
    message: NotRequired[str]

class Finding(TypedDict):
    code: str
    severity: Literal["error", "warning", "hint"]
    pointer: str
    message: str
    remedy: str
    file: NotRequired[str]
    line: NotRequired[int]
    column: NotRequired[int]
    endLine: NotRequired[int]
    endColumn: NotRequired[int]
    source: NotRequired[str]
    caret: NotRequired[int]
    width: NotRequired[int]
    help: NotRequired[str]
    edits: NotRequired[list[Replacement]]
    patch: NotRequired[list[dict[str, Any]]]

class Waits(TypedDict):
    word: str
    text: str
    since: str
    position: NotRequired[int]
    never: NotRequired[bool]

class IdleWarning(TypedDict):
    cause: Literal["gpus", "log"]
    since: str
    endsAfter: str

class HeldJob(TypedDict):
    exitCode: NotRequired[int]
    message: str
    until: str

class JobUsage(TypedDict):
    nodeHours: float
    gpuHours: float
    cost: NotRequired[float]
    currency: NotRequired[str]

class AttemptOnEngine(TypedDict):
    engine: str
    cluster: str
    experiment: str
    name: str
    id: NotRequired[str]

class SweepMember(TypedDict):
    id: str
    index: int
    values: dict[str, Any]

class JobLine(TypedDict):
    id: str
    name: str
    experiment: NotRequired[str]
    cluster: NotRequired[str]
    door: str
    state: str
    reason: NotRequired[str]
    message: NotRequired[str]
    lastError: NotRequired[str]
    signature: NotRequired[str]
    waiting: NotRequired[Waits]
    expectedStart: NotRequired[ExpectedStart]
    idle: NotRequired[IdleWarning]
    hold: NotRequired[str]
    held: NotRequired[HeldJob]
    exitCode: NotRequired[int]
    attempt: int
    cancelRequested: NotRequired[bool]
    entered: NotRequired[list[str]]
    labels: NotRequired[dict[str, str]]
    resources: NotRequired[dict[str, Any]]
    createdAt: str
    startedAt: NotRequired[str]
    endedAt: NotRequired[str]
    receipt: str
    generation: int
    rerunOf: NotRequired[str]
    resumes: NotRequired[str]
    engine: NotRequired[AttemptOnEngine]
    nodes: NotRequired[int]
    priority: NotRequired[str]
    team: NotRequired[str]
    usage: NotRequired[JobUsage]
    packagesSeconds: NotRequired[int]
    owner: NotRequired[str]
    cancelledBy: NotRequired[str]
    sweep: NotRequired[SweepMember]

class DroppedFile(TypedDict):
    name: str
    sha256: str
    etag: str | None

class DroppedFolder(TypedDict):
    container: str
    folder: str
    files: list[DroppedFile]
    late: NotRequired[str]

class OtherJob(TypedDict):
    job: str
    name: str
    met: bool

class Receiver(TypedDict):
    url: str
    secret: str | None
    events: list[str]

class HistoryEntry(TypedDict):
    sequence: int
    state: str
    at: str
    attempt: int
    reason: NotRequired[str]
    note: NotRequired[str]
    by: NotRequired[str]

class JobDetail(JobLine):
    attempts: NotRequired[list[JobAttempt]]
    errorLines: NotRequired[ErrorLines]
    remedy: NotRequired[str]
    after: NotRequired[list[OtherJob]]
    afterFailure: NotRequired[list[OtherJob]]
    drop: NotRequired[DroppedFolder]
    code: NotRequired[JobCode | str]
    notify: NotRequired[list[Receiver]]
    problems: NotRequired[list[Finding]]
    received: NotRequired[str]
    history: NotRequired[list[HistoryEntry]]

class AcceptedJob(JobDetail):
    notes: list[str]

class JobPage(TypedDict):
    jobs: list[JobLine]
    next: str | None
    searchedTo: NotRequired[str]
    note: NotRequired[str]

class SweepLine(TypedDict):
    sweepId: str
    name: str
    experiment: str
    cluster: NotRequired[str]
    state: str
    total: int
    parallel: int
    atWork: int
    waiting: int
    counts: dict[str, int]
    cancelRequested: NotRequired[bool]
    labels: NotRequired[dict[str, str]]
    createdAt: str
    endedAt: NotRequired[str]

class SweepList(TypedDict):
    sweeps: list[SweepLine]
    more: bool

class SweepDetail(SweepLine):
    code: NotRequired[JobCode]
    parameters: dict[str, Any]

class AcceptedSweep(SweepDetail):
    notes: list[str]

class ClusterNode(TypedDict):
    name: str
    state: str

class Facts(TypedDict):
    mounted: list[str] | None
    maxNodes: int | None
    gpus: int | None
    nodeMemory: int | None
    maxWallClock: str | None

class Capability(TypedDict):
    answer: Literal["yes", "configured", "no"]
    note: str

class NodeHistory(TypedDict):
    states: list[str]
    points: list[list[int | None]]

class FreeGpus(TypedDict):
    free: int
    all: int

class ClusterState(TypedDict):
    name: str
    engine: str
    state: str
    nodes: int
    counts: dict[str, int]
    minimum: int | None
    maximum: int | None
    size: str
    errors: list[str]
    priority: str
    members: list[ClusterNode]
    facts: Facts
    gpus: NotRequired[FreeGpus]
    capabilities: dict[str, Capability]
    history: NotRequired[NodeHistory]

class SilentCluster(TypedDict):
    name: str
    error: str
    since: NotRequired[str]
    history: NotRequired[NodeHistory]

class ClusterList(TypedDict):
    clusters: list[ClusterState | SilentCluster]

class PauseState(TypedDict):
    paused: bool
    since: NotRequired[str]
    by: NotRequired[str]
    reason: NotRequired[str]

class OwnTeam(TypedDict):
    name: str
    manager: bool

class Identity(TypedDict):
    id: str | None
    roles: list[str]
    teams: list[OwnTeam]

class ClientSettings(TypedDict):
    settings: dict[str, str]

class AuditDifference(TypedDict):
    kind: str
    what: str
    message: str

class AuditReport(TypedDict):
    counted: dict[str, int]
    differences: list[AuditDifference]
    unknown: list[str]

class Readiness(TypedDict):
    storage: str
    clusters: dict[str, int]
    paused: bool
    sweeper: str
    settings: str
    unreadable: int
    parked: int
    off: list[str]

class Health(Readiness):
    status: Literal["ok"]

class NotReady(Readiness, ProblemDocument): ...

class ExistingJob(TypedDict):
    id: str
    state: str

class ExplainedJob(TypedDict):
    id: str | None
    name: str
    experiment: str
    door: str
    receipt: str
    duplicates: str
    existing: ExistingJob | None

class ExplainedSweep(TypedDict):
    jobs: int
    parallel: int
    values: dict[str, Any]
    existing: str | None

class ExplainedVariable(TypedDict):
    name: str
    value: str
    source: str
    exact: bool

class ExplainedCluster(TypedDict):
    name: str
    id: str
    engine: str
    why: str
    state: str | None
    note: NotRequired[str]
    size: NotRequired[str]
    priority: NotRequired[str]
    nodes: NotRequired[int]
    counts: NotRequired[dict[str, int]]
    maximum: NotRequired[int]
    nodesToAdd: NotRequired[int]
    errors: NotRequired[list[str]]

class Explanation(TypedDict):
    verdict: Literal["runs", "rejected", "duplicate", "refused", "cancelled"]
    summary: str
    sweep: NotRequired[ExplainedSweep]
    job: ExplainedJob
    after: NotRequired[list[OtherJob]]
    afterFailure: NotRequired[list[OtherJob]]
    cluster: ExplainedCluster | None
    notes: list[str]
    problems: list[Finding]
    document: dict[str, Any] | None
    engineName: NotRequired[str]
    environment: NotRequired[list[ExplainedVariable]]
    requestsBefore: NotRequired[list[dict[str, Any]]]
    request: NotRequired[dict[str, Any]]
    limits: NotRequired[list[dict[str, Any]]]
    wait: NotRequired[dict[str, Any]]
    cost: NotRequired[dict[str, Any]]
    wallClockLimit: NotRequired[str]
    warnings: list[str]

class OutputEntry(TypedDict):
    name: str
    bytes: int | None
    modified: str | None
    link: NotRequired[bool]
    leftOut: NotRequired[bool]
    kind: NotRequired[str]
    executable: NotRequired[bool]

class OutputEntries(TypedDict):
    files: list[OutputEntry]
    next: str | None

class FileAddress(TypedDict):
    name: str
    bytes: int
    modified: str
    url: str

class FileAddresses(TypedDict):
    addresses: list[FileAddress]
    next: str | None
    expires: str | None

class OutputPlace(TypedDict):
    id: str
    path: str
    log: NotRequired[str]
    files: str

class OutputDirectories(TypedDict):
    outputs: list[OutputPlace]

class MetricSeries(TypedDict):
    name: str
    file: str
    rank: NotRequired[int]
    axis: str
    count: int
    points: list[list[float]]

class Metrics(TypedDict):
    series: list[MetricSeries]
    next: str
    more: bool
    restarted: bool
    note: NotRequired[str]

class LogPart(TypedDict):
    file: str
    start: int
    size: int
    data: str

class LiveJob(TypedDict):
    job: JobDetail
    files: NotRequired[list[str]]
    log: list[LogPart]
    metrics: NotRequired[Metrics]
    next: str
    more: bool
    restarted: bool
    note: NotRequired[str]

class LastLines(TypedDict):
    file: str
    lines: list[str]

class ErrorEnds(TypedDict):
    files: list[LastLines]
    more: int

class Receipt(JobDetail):
    versions: dict[str, str]
    waitedSeconds: NotRequired[float]
    ranSeconds: NotRequired[float]
    nodes: NotRequired[int]
    nodeHours: NotRequired[float]
    lastLines: NotRequired[LastLines]
    outputs: NotRequired[list[OutputPlace]]
    spec: NotRequired[dict[str, str]]
    accepted: NotRequired[dict[str, Any]]

class JobMark(TypedDict):
    id: str
    name: str
    at: str

class WaitingGroup(TypedDict):
    word: str
    subject: str
    text: str
    never: bool
    jobs: int
    oldest: JobMark
    next: JobMark
    nextBy: NotRequired[str]

class FailureGroup(TypedDict):
    signature: str
    error: str
    state: str
    jobs: int
    first: JobMark
    last: JobMark

class IdleJob(TypedDict):
    id: str
    name: str
    since: str
    endsAfter: str

class RunningJob(TypedDict):
    id: str
    name: str
    owner: NotRequired[str]
    team: NotRequired[str]
    cluster: str
    nodes: int
    gpus: int
    since: str
    until: NotRequired[str]

class EndedJob(TypedDict):
    id: str
    name: str
    owner: NotRequired[str]
    state: str
    at: str
    ran: int
    error: NotRequired[str]

class EndsByTime(TypedDict):
    hours: int
    succeeded: list[int]
    failed: list[int]

class ClusterNodes(TypedDict):
    name: str
    nodes: dict[str, int] | None
    maximum: NotRequired[int]
    at: str | None

class TeamMonth(TypedDict):
    team: str | None
    jobs: int
    nodes: int
    gpus: int
    gpuHours: float
    cost: float
    reservedGpuHours: float
    reservedCost: float
    limitGpuHours: NotRequired[float]
    budget: NotRequired[float]

class LeftOut(TypedDict):
    waiting: int
    failures: int
    idle: int
    clusters: int
    use: int

class Overview(TypedDict):
    scope: Literal["mine", "team", "all"]
    since: str
    counts: dict[str, int]
    waiting: list[WaitingGroup]
    failures: list[FailureGroup]
    idle: list[IdleJob]
    running: list[RunningJob]
    ended: list[EndedJob]
    ends: EndsByTime
    clusters: list[ClusterNodes]
    month: str
    currency: str
    countedSince: str
    use: list[TeamMonth]
    leftOut: NotRequired[LeftOut]

class Replacement(TypedDict):
    line: int
    column: int
    endLine: int
    endColumn: int
    text: str

class Validated(TypedDict):
    valid: bool
    problems: list[Finding]
    notes: list[str]

class SignInWay(TypedDict):
    authorize: str
    token: str
    issuer: str
    client: str
    scope: str

class TeamsVersion(TypedDict):
    version: str
    document: dict[str, Any]

class TeamUse(TypedDict):
    jobs: int
    nodes: int
    gpus: int
    gpuHours: float
    cost: float
    reservedGpuHours: float
    reservedCost: float
    waiting: int
    borrowed: int
    lent: int

class MonthUsage(TypedDict):
    jobs: int
    nodeHours: float
    gpuHours: float
    cost: float

class PersonQuota(TypedDict):
    jobs: NotRequired[int]
    nodes: NotRequired[int]
    gpus: NotRequired[int]

class Quota(TypedDict):
    jobs: NotRequired[int]
    nodes: NotRequired[int]
    gpus: NotRequired[int]
    gpuHours: NotRequired[float]
    budget: NotRequired[float]
    jobCost: NotRequired[float]
    perPerson: NotRequired[PersonQuota]
    lends: NotRequired[bool]
    borrows: NotRequired[bool]

class TeamShare(TypedDict):
    name: str
    quota: Quota | None
    use: TeamUse | None
    months: dict[str, MonthUsage]
    error: NotRequired[str]

class UsageShare(TypedDict):
    team: str | None
    owner: NotRequired[str]
    experiment: NotRequired[str]
    jobs: int
    nodeHours: float
    gpuHours: float
    cost: float
    atWork: int
    reservedGpuHours: float
    reservedCost: float

class TeamsUsage(TypedDict):
    month: str
    currency: str
    teams: list[TeamShare]
    countedSince: str
    shares: NotRequired[list[UsageShare]]

class TeamsDocument(TeamsVersion):
    use: dict[str, TeamUse]
    errors: dict[str, str]

class ChangedTeams(TeamsVersion):
    changes: list[str]
    dryRun: bool

class TrailAct(TypedDict):
    at: str
    by: str
    roles: list[str]
    operation: str
    subject: str
    status: int
    result: NotRequired[str]
    team: NotRequired[str]
    detail: NotRequired[str]

class Trail(TypedDict):
    acts: list[TrailAct]
    unreadable: int
    next: str | None
