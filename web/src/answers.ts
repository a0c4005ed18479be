/** The answers of the API. This file is generated: python -m functions.openapi */

/** An error (RFC 9457). `errors`, `jobId` and `receipt` belong to a document that cannot run. */
export type ProblemDocument = {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** What the caller can do. */
  remedy?: string;
  jobId?: string;
  errors?: Finding[];
  receipt?: string;
  /** Only in a 401 that asks for a token: where people can sign in. */
  signIn?: SignInWay;
};

/** A job whose end was asked for. */
export type CancelledJob = {
  id: string;
  name: string;
  state: string;
};

/** A job whose end was not asked for. */
export type KeptJob = {
  id: string;
  name: string;
  why: string;
  /** True if there was no time left for it: the same request, sent again, goes on with it. */
  again?: boolean;
};

/** The jobs that fitted the conditions of a cancellation, the newest first. */
export type CancelledJobs = {
  jobs: CancelledJob[];
  /** Those that the caller may not change, or that could not be reached now. */
  refused: KeptJob[];
};

/** The refusal to cancel another number of jobs than expected. */
export type OtherNumber = ProblemDocument & {
  /** How many fit; missing beyond 10,000. */
  number?: number;
};

/** The archive with the code that a job runs, also after an edit of the folder that it was made of. */
export type JobCode = {
  /** The digest of its bytes, which every node checks before anything runs. */
  sha256: string;
  bytes: number;
  /** How many it has; only its list tells (`GET /api/jobs/{id}/code`) for an archive that a client sent. */
  files?: number;
  /** Where nodes unpack it: `work`, the working directory, or a folder below the one of scripts. */
  at: string;
  /** `upload`, `drop` or `folder`. */
  origin: string;
};

/** Whether an archive is there already, or where it is to be sent. */
export type SnapshotPlace = {
  known: boolean;
  /** An address that takes the archive in one PUT, once, and can do nothing else. */
  upload?: string;
  /** Until when it does. */
  expires?: string;
};

/** A member of an archive, as it says of itself; the name of a folder ends with a slash. */
export type CodeEntry = {
  name: string;
  bytes: number;
  executable?: boolean;
  /** What a link leads to. */
  link?: string;
  /** Whether name or link has escapes: a byte that is not UTF-8 is written as `\xff`, a backslash twice. */
  escaped?: boolean;
};

/** The code of a job, and what is in it. */
export type CodeListing = JobCode & {
  /** Its members; with `file`, those of that name. */
  entries: CodeEntry[];
  /** Whether it has more than is listed: 20,000 members, 32 MiB unpacked, none of more than that packed. */
  more: boolean;
  /** The first 64 KiB of `file`, which is read as UTF-8. */
  text?: string;
  /** An address that reads the archive from storage. */
  url: string;
  expires: string;
};

/** A container, for `kubectl` with the person's own rights. */
export type KubectlPlace = {
  /** The address of the API server; missing if the app reaches it by one that only pods have. */
  server?: string;
  namespace: string;
  pod: string;
  container: string;
};

/** A node of a job, for `srun --overlap` as the user of the jobs. */
export type SrunPlace = {
  /** Its number, for `--jobid`. */
  job: string;
  node: string;
  /** The host on which `srun` runs; missing if it is on the person's own machine. */
  login?: string;
  /** The user of the jobs: the engine refuses others. */
  user: string;
  /** For the `publicKey` of the request: it lets its holder into this rank alone, by the login node. */
  certificate?: string;
  /** When no session begins with it any more; one that has begun goes on. */
  expires?: string;
};

/** A node that answers ssh. */
export type SshPlace = {
  host: string;
  port: number;
  user: string;
};

/** A task of `az batch` on a node. */
export type TaskPlace = {
  pool: string;
  node: string;
  job: string;
  task: string;
  /** Of the task, below `AZ_BATCH_NODE_ROOT_DIR`. */
  directory: string;
};

/** Where one rank of a job runs now: one of the places. It has no command: the client makes that. */
export type JobEntry = {
  job: string;
  attempt: number;
  rank: number;
  /** How many processes the job starts by itself; `rank` counts from 0. */
  ranks: number;
  kubectl?: KubectlPlace;
  srun?: SrunPlace;
  ssh?: SshPlace;
  task?: TaskPlace;
  /** Of a job whose command has failed: when its nodes are given back, unless they are released before. */
  heldUntil?: string;
  /** Why `slipway shell` does not go there by itself. */
  reason?: string;
};

/** One POST to a receiver. */
export type DeliveryTry = {
  at: string;
  status: number | null;
  ms: number;
  said: string;
};

/** An event's way to one receiver. */
export type EventDelivery = {
  url: string;
  state: "pending" | "delivered" | "dead";
  attempts: number;
  last: string;
  tries: DeliveryTry[];
  /** When the next try is due. */
  next?: string;
};

/** An event of a job that has a receiver. */
export type JobEvent = {
  id: string;
  job: string;
  sequence: number;
  type: string;
  state: "pending" | "delivered" | "dead";
  targets: EventDelivery[];
};

/** All events of a job, in order. */
export type JobEvents = {
  events: JobEvent[];
};

/** The ids of the events that will be sent again. */
export type Redelivered = {
  events: string[];
};

/** A receiver's response to a test event. */
export type ReceiverTested = {
  outcome: string;
  status: number | null;
  said: string;
  ms: number;
};

/** An address to which no more events are sent. */
export type DisabledReceiver = {
  url: string;
  since: string;
  why: string;
};

/** Every address to which no more events are sent. */
export type DisabledReceivers = {
  receivers: DisabledReceiver[];
};

/** The circuit breaker of a receiver: after repeated failures, events to it are held back for a while. */
export type ReceiverBreaker = {
  /** `half-open`: the next event, or the one being sent, is the probe. */
  state: "open" | "half-open";
  since: string;
  /** When the next event may be sent. */
  until: string;
};

/** A receiver with events that it has not accepted, or one that is disabled. */
export type ReceiverState = {
  /** Shortened to the part that is not secret. */
  url: string;
  /** `failing`: the last try failed, and there will be another; `dead`: every event that remains was given up. */
  state: "disabled" | "failing" | "dead" | "waiting";
  /** When the oldest of the tries that are still being repeated failed, or when the receiver was disabled. */
  since?: string;
  /** When the next try is due. */
  next?: string;
  /** The last response, in words. */
  last: string;
  pending: number;
  dead: number;
  /** The ids of the 50 newest events that were given up. */
  deadEvents: string[];
  /** As the process that answers this request sees it; each process keeps its own. */
  breaker?: ReceiverBreaker;
};

/** Every receiver with events that it has not accepted, and every disabled one. */
export type ReceiverStates = {
  receivers: ReceiverState[];
};

/** A message that failed too often, or an event that a receiver never accepted. */
export type DeadOne = {
  id: string;
  kind: "message" | "event";
  queue?: string;
  job?: string;
  since: string;
  reason: string;
  /** Of the message. */
  sha256?: string;
};

/** Every dead message and event. */
export type DeadList = {
  dead: DeadOne[];
};

/** The messages and events that were sent again. */
export type Redriven = {
  id: string;
  kind: "message" | "event";
};

/** The last lines that a failed job wrote to standard error, or to standard output if to no other. */
export type ErrorLines = {
  file: string;
  /** The byte of the file at which they begin, or one a little before: the `offset` of its log. */
  offset: number;
  /** At most 20, without the job's secrets; the whole file may have been continued since. */
  lines: string[];
};

/** When a job that waits is expected to start, from what is known now. */
export type ExpectedStart = {
  earliest?: string;
  /** Missing where that is not known. */
  latest?: string;
  why: string;
};

/** What happened to an attempt. */
export type JobAttempt = {
  attempt: number;
  /** Its name on the cluster. */
  name: string;
  state: string;
  acceptedAt?: string;
  submittingAt?: string;
  queuedAt?: string;
  runningAt?: string;
  endedAt?: string;
  reason?: string;
  message?: string;
};

/** One problem of a document; with its place if the text is known, and with a fix if one is certain. */
export type Finding = {
  /** Its rule, as in docs/rules. */
  code: string;
  severity: "error" | "warning" | "hint";
  /** JSON pointer of the place in the document. */
  pointer: string;
  message: string;
  remedy: string;
  file?: string;
  line?: number;
  column?: number;
  endLine?: number;
  endColumn?: number;
  /** The line, without secrets. */
  source?: string;
  /** How many characters of `source` precede the faulty piece. */
  caret?: number;
  /** The length of the faulty piece in characters. */
  width?: number;
  /** The documentation of the rule. */
  help?: string;
  /** The fix, as replacements in the text. */
  edits?: Replacement[];
  /** The fix, as a JSON Patch (RFC 6902). */
  patch?: (Record<string, unknown>)[];
};

/** Why a job waits, and since when. */
export type Waits = {
  word: string;
  text: string;
  since: string;
  /** Of a single job: its place among those that wait for the same, from 1 on; by its team's line where it waits for the quota, else by creation. */
  position?: number;
  /** True where it can never start until the job or the cluster changes. */
  never?: boolean;
};

/** A running job that does nothing with what it has. */
export type IdleWarning = {
  /** All its GPUs are idle, or nothing is added to its standard output and error. */
  cause: "gpus" | "log";
  since: string;
  /** When its end is requested, unless it works again before that. */
  endsAfter: string;
};

/** A job whose command has failed, and whose nodes are kept. */
export type HeldJob = {
  exitCode?: number;
  message: string;
  /** When they are given back, unless they are released before that. */
  until: string;
};

/** What all attempts of a job used together. */
export type JobUsage = {
  nodeHours: number;
  /** 0 if the number of GPUs of its nodes is not known. */
  gpuHours: number;
  /** At the price when the job was accepted; missing if no price is known. */
  cost?: number;
  currency?: string;
};

/** The names by which the cluster knows the current attempt. */
export type AttemptOnEngine = {
  engine: string;
  cluster: string;
  experiment: string;
  name: string;
  /** The scheduler's own number or id, once it is known. */
  id?: string;
};

/** Which job of a sweep this is, and its values. */
export type SweepMember = {
  id: string;
  index: number;
  values: Record<string, unknown>;
};

/** A job in a list. */
export type JobLine = {
  id: string;
  name: string;
  experiment?: string;
  /** Missing if the document was rejected before a cluster was chosen. */
  cluster?: string;
  /** The door through which it arrived: drop, inventory, http, queue or rerun. */
  door: string;
  state: string;
  /** Why it ended, or what it waits for. */
  reason?: string;
  message?: string;
  /** The line of standard error, or of standard output with the name of an error, that most likely says why it failed; or the first problem of a rejected document with its rule and place; at most 300 printable characters. */
  lastError?: string;
  /** Of a job that failed, was lost or rejected, in a list: its error with `#` for numbers, digests and ids, so that errors with one cause are equal; at most 160 characters. */
  signature?: string;
  waiting?: Waits;
  /** Of a job that waits, in a list and where it is asked for alone. */
  expectedStart?: ExpectedStart;
  idle?: IdleWarning;
  /** For how long its nodes are kept after a failure of its own (ISO 8601). */
  hold?: string;
  /** Only while they are kept. */
  held?: HeldJob;
  exitCode?: number;
  attempt: number;
  cancelRequested?: boolean;
  /** Who was told where its processes are, to enter it: what it did may not be what its document says. */
  entered?: string[];
  labels?: Record<string, string>;
  /** The resources of its cluster that its message asked for. */
  resources?: Record<string, unknown>;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  /** The path of the receipt in the storage account, container first. */
  receipt: string;
  generation: number;
  rerunOf?: string;
  /** The job from whose saved files it goes on. */
  resumes?: string;
  engine?: AttemptOnEngine;
  /** How many nodes it asks for; missing in older records and if the document cannot run. */
  nodes?: number;
  /** The scheduling priority in its document, if there is one. */
  priority?: string;
  /** Missing if the deployment has no teams. */
  team?: string;
  /** Only for a job that ran and has ended. */
  usage?: JobUsage;
  /** For how long a node installed packages for its last attempt, as its preparation wrote. */
  packagesSeconds?: number;
  /** The id (`oid`) of the caller who asked for it with a token; missing if it arrived in any other way. */
  owner?: string;
  /** Who asked first for its cancellation, by their id; missing where it was released or ended otherwise. */
  cancelledBy?: string;
  sweep?: SweepMember;
};

/** A file of a drop, in the version that was read. */
export type DroppedFile = {
  name: string;
  sha256: string;
  etag: string | null;
};

/** The folder that a dropped job came from. */
export type DroppedFolder = {
  container: string;
  folder: string;
  files: DroppedFile[];
  /** The files that came after its files were frozen, in a sentence: the job does not have them. */
  late?: string;
};

/** Another job that a job waits for. */
export type OtherJob = {
  job: string;
  name: string;
  /** Whether it has ended in the required way. */
  met: boolean;
};

/** A receiver of a job's events; `url` is shortened to the part that is not secret. */
export type Receiver = {
  url: string;
  /** The name of a configured secret. */
  secret: string | null;
  events: string[];
};

/** A state that a job has reached. */
export type HistoryEntry = {
  sequence: number;
  state: string;
  at: string;
  attempt: number;
  reason?: string;
  note?: string;
  /** Who asked for the job's end then, by their id; for a key without a name that it is one. */
  by?: string;
};

/** One job with its history, its problems and its receivers. */
export type JobDetail = JobLine & {
  /** In order; only where one job is asked for, and in its receipt. */
  attempts?: JobAttempt[];
  /** Of a job that failed by its own fault, if its cluster returned them at its end; only where one job is asked for. */
  errorLines?: ErrorLines;
  /** What helps against `lastError`, if it is an error with one usual cause, such as a missing module. */
  remedy?: string;
  /** The jobs that have to succeed first. */
  after?: OtherJob[];
  /** The jobs that have to end without success first. */
  afterFailure?: OtherJob[];
  drop?: DroppedFolder;
  /** In a receipt `live` for a job that mounts the container of drops: each attempt runs what lies there then. Missing for a job that brings no code. */
  code?: JobCode | string;
  notify?: Receiver[];
  problems?: Finding[];
  /** The text of a rejected document, with `***` for secrets and for the values of unknown members. */
  received?: string;
  history?: HistoryEntry[];
};

/** The job that a request created or joined. */
export type AcceptedJob = JobDetail & {
  /** Every value that was filled in. */
  notes: string[];
};

/** A page of jobs, newest first. */
export type JobPage = {
  jobs: JobLine[];
  /** The `after` of the next page; null on the last one. */
  next: string | null;
  /** Set if the search reached its bounds before the page was full: no older job was looked at. */
  searchedTo?: string;
  /** The same as a sentence. */
  note?: string;
};

/** A sweep in a list: the jobs of one template, and their progress. */
export type SweepLine = {
  sweepId: string;
  name: string;
  experiment: string;
  cluster?: string;
  /** `active`, or `ended` once every job has ended. */
  state: string;
  /** The number of jobs. */
  total: number;
  /** How many of them may be active at the same time. */
  parallel: number;
  /** How many seats are taken. */
  atWork: number;
  waiting: number;
  /** How many jobs have ended, by their final state. */
  counts: Record<string, number>;
  cancelRequested?: boolean;
  labels?: Record<string, string>;
  createdAt: string;
  endedAt?: string;
};

/** The sweeps that are active, the newest first, and then those that have ended, the last end first. */
export type SweepList = {
  sweeps: SweepLine[];
  /** Whether there are more than these, or may be. */
  more: boolean;
};

/** A sweep with the parameters of its template. */
export type SweepDetail = SweepLine & {
  /** The archive that each of its jobs runs. */
  code?: JobCode;
  /** The parameters and their values, as they were written. */
  parameters: Record<string, unknown>;
};

/** The sweep that a request created or joined. */
export type AcceptedSweep = SweepDetail & {
  /** Every value that was filled in. */
  notes: string[];
};

/** A node, and its state in the engine's words. */
export type ClusterNode = {
  name: string;
  state: string;
};

/** What the jobs of a cluster can rely on; null if it is not known. */
export type Facts = {
  mounted: string[] | null;
  maxNodes: number | null;
  gpus: number | null;
  /** In MiB, of one node. */
  nodeMemory: number | null;
  /** ISO 8601 duration. */
  maxWallClock: string | null;
};

/** Whether an engine supports something; `configured` means: if its cluster is set up for it. */
export type Capability = {
  answer: "yes" | "configured" | "no";
  note: string;
};

/** The nodes of a cluster over time; each point holds until the next, for ten minutes at most. */
export type NodeHistory = {
  states: string[];
  /** Seconds since 1970, then the number of nodes in each state; null if the cluster did not answer. */
  points: ((number | null)[])[];
};

/** The GPUs of the nodes that jobs can use now. */
export type FreeGpus = {
  /** Those that no job has; of nodes that jobs share on Azure Batch, only whole free nodes count. */
  free: number;
  all: number;
};

/** A cluster as it is now. */
export type ClusterState = {
  name: string;
  engine: string;
  state: string;
  nodes: number;
  /** Nodes by state. */
  counts: Record<string, number>;
  minimum: number | null;
  maximum: number | null;
  size: string;
  errors: string[];
  priority: string;
  /** The nodes one by one; empty if the engine only counts them. */
  members: ClusterNode[];
  facts: Facts;
  /** Missing where the engine does not show them, or there are none. */
  gpus?: FreeGpus;
  capabilities: Record<string, Capability>;
  /** Where it was asked for. */
  history?: NodeHistory;
};

/** A cluster that cannot be queried, with the reason. */
export type SilentCluster = {
  name: string;
  error: string;
  /** Since when the background passes have had no answer either, if one has asked recently. */
  since?: string;
  /** Where it was asked for. */
  history?: NodeHistory;
};

/** Every configured cluster: its state, or why it does not answer. */
export type ClusterList = {
  clusters: (ClusterState | SilentCluster)[];
};

/** Whether submissions are paused; and if so since when, by whom and why. */
export type PauseState = {
  paused: boolean;
  since?: string;
  by?: string;
  reason?: string;
};

/** A team that the caller is in. */
export type OwnTeam = {
  name: string;
  /** Whether they may change the jobs of the whole team. */
  manager: boolean;
};

/** The caller, and what they may do. */
export type Identity = {
  /** The `owner` of their jobs; null for a holder of a function key. */
  id: string | null;
  /** A holder of a function key has every role; an administrator has one role, which permits everything. */
  roles: string[];
  /** The first is the team of jobs that name none. */
  teams: OwnTeam[];
};

/** What a client that sends files to this deployment needs to know. */
export type ClientSettings = {
  /** Names and values, as in the reference of settings: where the services of the storage account are, and which containers have drops and receipts. A role on the account is needed beside them. */
  settings: Record<string, string>;
};

/** A difference between two sources. */
export type AuditDifference = {
  kind: string;
  what: string;
  message: string;
};

/** How much was compared, what differs, and what could not be queried. */
export type AuditReport = {
  counted: Record<string, number>;
  differences: AuditDifference[];
  unknown: string[];
};

/** Whether the app works, in one word for each part, and how many clusters answer. */
export type Readiness = {
  storage: string;
  /** Clusters by what they do: `ok`, `does not answer`, `misconfigured`. */
  clusters: Record<string, number>;
  paused: boolean;
  sweeper: string;
  settings: string;
  /** Rows that cannot be read. */
  unreadable: number;
  /** Jobs that wait for a repair of the deployment. */
  parked: number;
  /** Functions that a setting of the host disables. */
  off: string[];
};

/** The checks of a service that is ready. */
export type Health = Readiness & {
  status: "ok";
};

/** The same checks, one of which has failed. */
export type NotReady = Readiness & ProblemDocument & {
};

/** The job that the request would join. */
export type ExistingJob = {
  id: string;
  state: string;
};

/** The record that the request would create. */
export type ExplainedJob = {
  id: string | null;
  name: string;
  experiment: string;
  door: string;
  receipt: string;
  duplicates: string;
  existing: ExistingJob | null;
};

/** The sweep whose first job is explained. */
export type ExplainedSweep = {
  jobs: number;
  /** How many of them may be active at the same time. */
  parallel: number;
  /** The values of the first job. */
  values: Record<string, unknown>;
  /** The id of the sweep that the request would join. */
  existing: string | null;
};

/** A variable of the job's processes; `exact`: its value is the one that they will see. */
export type ExplainedVariable = {
  name: string;
  value: string;
  source: string;
  exact: boolean;
};

/** Where it would run, why there, and how that cluster is now; its state is null if it did not answer. */
export type ExplainedCluster = {
  name: string;
  id: string;
  engine: string;
  why: string;
  state: string | null;
  /** Why its state is not known. */
  note?: string;
  size?: string;
  priority?: string;
  nodes?: number;
  /** Nodes by state. */
  counts?: Record<string, number>;
  maximum?: number;
  nodesToAdd?: number;
  errors?: string[];
};

/** What would happen to a job, or to the first job of a sweep. */
export type Explanation = {
  verdict: "runs" | "rejected" | "duplicate" | "refused" | "cancelled";
  summary: string;
  sweep?: ExplainedSweep;
  job: ExplainedJob;
  after?: OtherJob[];
  afterFailure?: OtherJob[];
  cluster: ExplainedCluster | null;
  notes: string[];
  problems: Finding[];
  document: Record<string, unknown> | null;
  engineName?: string;
  environment?: ExplainedVariable[];
  requestsBefore?: (Record<string, unknown>)[];
  request?: Record<string, unknown>;
  limits?: (Record<string, unknown>)[];
  wait?: Record<string, unknown>;
  cost?: Record<string, unknown>;
  wallClockLimit?: string;
  warnings: string[];
};

/** A file, a directory or a link in an output directory. */
export type OutputEntry = {
  name: string;
  /** Null for a directory, for a link that is not followed, and for an entry that is left out. */
  bytes: number | null;
  modified: string | null;
  /** True for a link that is not followed: it leads out of the run's own folder, unless `kind` says otherwise. */
  link?: boolean;
  /** True if the name cannot be requested, if it is not a file, or if it stands for the rest of too many entries. */
  leftOut?: boolean;
  /** The kind of an entry that is left out: `file` or `directory`, if its name cannot be requested; `link`, `pipe`, `socket` or `device`; `other` if the cluster does not report which of these four it is; `unkept` if its node could not upload it. Of a link: `nowhere`, `above` for one to a folder above it, or `special` for one to a pipe, a socket or a device. */
  kind?: string;
  /** Whether a file is a program; left out if the cluster does not report it. */
  executable?: boolean;
};

/** The entries of a folder of an output directory, ordered by name; in pages if it is large. */
export type OutputEntries = {
  files: OutputEntry[];
  /** The `after` of the next request; null where there are no more. */
  next: string | null;
};

/** A file in storage, and the address by which it can be read there without a key. */
export type FileAddress = {
  name: string;
  bytes: number;
  /** When it was written to storage; a file with a newer time in the list of files is another version. */
  modified: string;
  /** A secret until it expires: anyone who has it can read the file. */
  url: string;
};

/** Addresses of files in a folder, in the order of their names. */
export type FileAddresses = {
  addresses: FileAddress[];
  /** The `after` of the next request; null where there are no more. */
  next: string | null;
  /** How long the addresses are valid; null if the files of this directory are only available through the API. */
  expires: string | null;
};

/** A directory that a job writes to. */
export type OutputPlace = {
  id: string;
  path: string;
  /** The address of the log, for the standard output and error. */
  log?: string;
  /** The address of the list of its files. */
  files: string;
};

/** Every output directory of a job. */
export type OutputDirectories = {
  outputs: OutputPlace[];
};

/** The values of one metric, from one file and, if its lines name a rank, of one rank. */
export type MetricSeries = {
  name: string;
  file: string;
  rank?: number;
  /** The meaning of the first number of each point: step, epoch, time, or line. */
  axis: string;
  /** The number of values that were read; `points` may have fewer. */
  count: number;
  points: ([number, number])[];
};

/** The metrics that a job and its nodes have reported since the `after` of the request. */
export type Metrics = {
  series: MetricSeries[];
  /** The `after` of the next request. */
  next: string;
  /** Whether there is more to read already. */
  more: boolean;
  /** Whether the job began a new run: the points of earlier responses are out of date. */
  restarted: boolean;
  /** What was left out. */
  note?: string;
};

/** Bytes of a log. */
export type LogPart = {
  file: string;
  /** Where they begin: after the end of the part before if too much was written since. */
  start: number;
  /** Bytes of the file. */
  size: number;
  data: string;
};

/** A job, and what it has written since the `after` of the request. */
export type LiveJob = {
  job: JobDetail;
  /** The names in `stdouterr`, at most 1,000; left out while they are those of the answer before. */
  files?: string[];
  /** Of the file and of the standard error of the same process; at most 256 KiB of each. */
  log: LogPart[];
  metrics?: Metrics;
  /** The `after` of the next request. */
  next: string;
  /** Whether there are more numbers to read already. */
  more: boolean;
  /** Whether the job began a new run: the log and the points of earlier answers are out of date. */
  restarted: boolean;
  /** Why the log or the numbers are missing. */
  note?: string;
};

/** How a failed job's standard error ended, or its standard output if it has no other. */
export type LastLines = {
  file: string;
  lines: string[];
};

/** The last lines of standard error of the first eight processes, by name, that wrote any. */
export type ErrorEnds = {
  files: LastLines[];
  /** How many other processes wrote to the same. */
  more: number;
};

/** The accepted document, the outcome, and every step in between. */
export type Receipt = JobDetail & {
  versions: Record<string, string>;
  waitedSeconds?: number;
  ranSeconds?: number;
  nodes?: number;
  nodeHours?: number;
  lastLines?: LastLines;
  outputs?: OutputPlace[];
  /** `sha256`: of the canonical JSON of `accepted`. */
  spec?: Record<string, string>;
  /** The completed document, secrets masked. */
  accepted?: Record<string, unknown>;
};

/** A job, and a moment of it. */
export type JobMark = {
  id: string;
  name: string;
  at: string;
};

/** Jobs that wait for the same. */
export type WaitingGroup = {
  /** As of `waiting` of a job; "" where the reason is not known yet. */
  word: string;
  /** The cluster, the team, the sweep or the job that they wait for; "" for the whole deployment. */
  subject: string;
  /** The sentence of the oldest one, at most 160 characters. */
  text: string;
  /** Whether they can never start as things stand. */
  never: boolean;
  jobs: number;
  /** The one that was created first, and when it began to wait for this. */
  oldest: JobMark;
  /** The one whose turn comes first, and when it was created. */
  next: JobMark;
  /** When the first of the jobs that have what these wait for reaches its time limit: something becomes free then at the latest. Missing where that is not known. */
  nextBy?: string;
};

/** Jobs that failed, were lost or rejected with errors of one signature. */
export type FailureGroup = {
  /** The error with `#` for numbers, digests and ids, at most 160 characters; the condition `error` of a list takes it. */
  signature: string;
  /** That of the last one, as it was written, at most 160 characters. */
  error: string;
  /** Of the last one. */
  state: string;
  jobs: number;
  /** The one that ended first since then, and when. */
  first: JobMark;
  last: JobMark;
};

/** A running job that does nothing with what it has. */
export type IdleJob = {
  id: string;
  name: string;
  since: string;
  endsAfter: string;
};

/** A job that runs. */
export type RunningJob = {
  id: string;
  name: string;
  owner?: string;
  team?: string;
  cluster: string;
  nodes: number;
  /** Of all its nodes together; 0 if the number is not known. */
  gpus: number;
  /** When its current attempt began to run. */
  since: string;
  /** When it reaches its time limit. */
  until?: string;
};

/** A job that has ended. */
export type EndedJob = {
  id: string;
  name: string;
  owner?: string;
  state: string;
  at: string;
  /** Seconds, with all its attempts; 0 for one that did not begin. */
  ran: number;
  /** Why it failed, at most 80 characters; missing for others. */
  error?: string;
};

/** How many jobs ended in each part of the time since `since`, the first part first. */
export type EndsByTime = {
  /** Of one part; the last one has what is left, and has not ended yet. */
  hours: number;
  succeeded: number[];
  /** Those that were lost or rejected, too. */
  failed: number[];
};

/** The nodes of a cluster by state, as the sweeper's timer saw them last. */
export type ClusterNodes = {
  name: string;
  /** Null for a cluster that did not answer, or has not been asked yet. */
  nodes: Record<string, number> | null;
  /** The most that it may have, where it is limited and scales. */
  maximum?: number;
  /** Since when they are so, as far as it is recorded. */
  at: string | null;
};

/** What the jobs of a team have, and what they used and may still use in this month. */
export type TeamMonth = {
  /** Null for jobs without a team. */
  team: string | null;
  /** Those that a cluster has, or is being given. */
  jobs: number;
  nodes: number;
  gpus: number;
  /** Used by jobs that have ended in this month. */
  gpuHours: number;
  cost: number;
  /** What the jobs that have not ended may still use, if each runs as long as it may. */
  reservedGpuHours: number;
  reservedCost: number;
  /** Of the team's quota, a month. */
  limitGpuHours?: number;
  /** Of the team's quota, a month. */
  budget?: number;
};

/** How many entries of each list did not fit into the answer; those with the fewest jobs. */
export type LeftOut = {
  waiting: number;
  failures: number;
  idle: number;
  clusters: number;
  use: number;
};

/** What runs, waits and failed, what is free, and what was used; at most 8 kB. */
export type Overview = {
  scope: "mine" | "team" | "all";
  /** Jobs that have ended are counted since then: later than asked for where there are too many. */
  since: string;
  /** Jobs by state: all that have not ended, and those that have ended since then. */
  counts: Record<string, number>;
  /** The largest first. */
  waiting: WaitingGroup[];
  /** The largest first. */
  failures: FailureGroup[];
  idle: IdleJob[];
  /** The newest 12; `counts` has the number of all. */
  running: RunningJob[];
  /** The last 8. */
  ended: EndedJob[];
  ends: EndsByTime;
  clusters: ClusterNodes[];
  month: string;
  currency: string;
  /** The use of teams without a quota is counted since then: later than the month began where there are too many jobs, or they are archived. */
  countedSince: string;
  use: TeamMonth[];
  leftOut?: LeftOut;
};

/** A part of a fix: the text that belongs between two places. Lines and columns count from 1. */
export type Replacement = {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  text: string;
};

/** The problems of a document. */
export type Validated = {
  valid: boolean;
  problems: Finding[];
  notes: string[];
};

/** Where a browser gets an access token: OAuth 2.0, authorization code with PKCE. */
export type SignInWay = {
  authorize: string;
  token: string;
  issuer: string;
  client: string;
  scope: string;
};

/** The teams of the deployment. */
export type TeamsVersion = {
  /** Changes only when the document does. */
  version: string;
  document: Record<string, unknown>;
};

/** How much of its quota the jobs of a team use. */
export type TeamUse = {
  jobs: number;
  nodes: number;
  gpus: number;
  /** In this month: the hours that ended jobs have used, and those that active jobs may still use. */
  gpuHours: number;
  /** In this month: the cost of ended jobs, and the cost that active jobs may still reach. */
  cost: number;
  /** Of the hours those that active jobs may still use, if each runs as long as it may. */
  reservedGpuHours: number;
  /** Of the cost that which active jobs may still reach. */
  reservedCost: number;
  /** Jobs that wait for the quota, up to 200. */
  waiting: number;
  /** Further jobs, which are on the quotas of other teams. */
  borrowed: number;
  /** Of the jobs those of other teams, on this quota. */
  lent: number;
};

/** The use of the jobs that ended in a month. */
export type MonthUsage = {
  jobs: number;
  nodeHours: number;
  gpuHours: number;
  cost: number;
};

/** How much the jobs of one person may have at once; missing without a limit. */
export type PersonQuota = {
  jobs?: number;
  nodes?: number;
  gpus?: number;
};

/** How much the jobs of a team may have at once, and use in a month; missing without a limit. */
export type Quota = {
  jobs?: number;
  nodes?: number;
  gpus?: number;
  /** Of a month. */
  gpuHours?: number;
  /** Of a month. */
  budget?: number;
  /** Of a single job, at its longest permitted run. */
  jobCost?: number;
  /** Of it, for one person. */
  perPerson?: PersonQuota;
  /** Whether jobs of other teams may use what of it is idle. */
  lends?: boolean;
  /** Whether the team's jobs may use what is idle of others' quotas. */
  borrows?: boolean;
};

/** A team, its quota, and its use. */
export type TeamShare = {
  name: string;
  /** Null for a team without a quota; its use is counted by its jobs, this month. */
  quota: Quota | null;
  use: TeamUse | null;
  /** By month in UTC, such as 2026-11, the last thirteen; of a team without a quota this one. */
  months: Record<string, MonthUsage>;
  /** Why its use is not known, and what an operator may do, where it has a quota and no use. */
  error?: string;
};

/** What the jobs of a caller, or of an experiment, used and may still use in a month. */
export type UsageShare = {
  team: string | null;
  /** Missing for jobs that came by a door, or with a key without a name. */
  owner?: string;
  experiment?: string;
  /** Those that have ended, whose use follows. */
  jobs: number;
  nodeHours: number;
  gpuHours: number;
  cost: number;
  /** Those that a cluster has, or is being given, and that may still use what is reserved. */
  atWork: number;
  reservedGpuHours: number;
  reservedCost: number;
};

/** The caller's teams; all teams for a caller who may see every job. */
export type TeamsUsage = {
  month: string;
  currency: string;
  teams: TeamShare[];
  /** What is counted by jobs is counted since then: later than the month began where there are too many, or where they are archived. */
  countedSince: string;
  /** The 200 that used most; where `by` asks for them. */
  shares?: UsageShare[];
};

/** The teams, with their use of a quota. */
export type TeamsDocument = TeamsVersion & {
  use: Record<string, TeamUse>;
  /** Of teams whose use is not known: why, and what to do. */
  errors: Record<string, string>;
};

/** The teams after a change. */
export type ChangedTeams = TeamsVersion & {
  /** A clause for each team that was changed. */
  changes: string[];
  /** Whether nothing was written. */
  dryRun: boolean;
};

/** A request that changed something, or was forbidden to. */
export type TrailAct = {
  at: string;
  /** The id of the caller. */
  by: string;
  roles: string[];
  /** Its name in this document. */
  operation: string;
  /** The id of the job, the sweep or the event in the address; empty where it has none. */
  subject: string;
  /** Of the answer. */
  status: number;
  /** The address of what came of it. */
  result?: string;
  /** That of the job, or of the sweep. */
  team?: string;
  /** Of an entry: the rank, the engine and its cluster, and the number of the certificate. */
  detail?: string;
};

/** Some acts, the newest first. There may be more at `next`, even where there are few or none here. */
export type Trail = {
  acts: TrailAct[];
  /** Lines that were passed over, because they are damaged; operators only. */
  unreadable: number;
  next: string | null;
};

export const ENDS: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled", "lost", "rejected"]);
