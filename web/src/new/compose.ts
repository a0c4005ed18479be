/** A folder as one document: its job.json, with the files packed into the preparation of each node. */
import { type Folder, FolderError, type FolderFile } from "./folder";
import { packed } from "./pack";

/** Characters of one text in a job.json. */
const MOST = 32_768;
/** Levels of objects and lists that a document may have. */
const DEEPEST = 64;
/** The characters of a path that a shell reads unchanged. */
const PLAIN = /^[A-Za-z0-9_./-]+$/;

type Members = Record<string, unknown>;

/** Where each node has the packages of a requirements.txt. */
const ENVIRONMENT = "$AZ_BATCHAI_JOB_TEMP/environment";
const INSTALLED: Members = { jobPreparation: { commandLine: `slipway_packages "<SLIPWAY_FOLDER>/requirements.txt"` } };

/** The text to submit. Throws FolderError for a folder that cannot be sent this way. */
export async function composed({ name, files }: Folder): Promise<string> {
  if (!PLAIN.test(name)) throw new FolderError(`The name ${name} cannot be used in a path: use letters, digits, ".", "_" and "-".`);
  const spec = document(files, "job.json") ?? jobFile(name, files);
  const envelope: Members = { ...document(files, "slipway.json") };
  delete envelope["needs"]; // it speaks of files that a drop waits for
  const unpacked = `$AZ_BATCHAI_JOB_TEMP/scripts/${name}`;
  const moved = JSON.parse(relocated(JSON.stringify(spec), name, unpacked, files)) as Members;
  const properties = record(moved["properties"]) ?? {};
  const own = record(properties["jobPreparation"])?.["commandLine"];
  const line = await unpacking(name, unpacked, files);
  const commandLine = typeof own === "string" ? `${line} && { ${own}\n}` : line;
  if (commandLine.length > MOST) {
    throw new FolderError(
      `${name} has ${commandLine.length.toLocaleString()} characters when it is packed, and a job.json takes ${MOST.toLocaleString()}. ` +
        `Send it with the command: slipway run ${name}`,
    );
  }
  const document_ = { name, ...envelope, spec: { ...moved, properties: { ...properties, jobPreparation: { commandLine } } } };
  return `${JSON.stringify(document_, null, 2)}\n`;
}

async function unpacking(name: string, path: string, files: readonly FolderFile[]): Promise<string> {
  const scripts = files.filter(({ path }) => path !== "job.json" && path !== "slipway.json");
  try {
    return `mkdir -p "${path}" && echo ${await packed(scripts)} | base64 -d | tar -xzf - -C "${path}"`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new FolderError(`The path ${error.message} is too long to be packed. Send the folder with the command: slipway run ${name}`);
  }
}

/** A JSON object of the folder; undefined where there is no such file. */
function document(files: readonly FolderFile[], name: string): Members | undefined {
  const file = files.find(({ path }) => path === name);
  if (file === undefined) return undefined;
  let value: Members | undefined;
  try {
    value = record(JSON.parse(new TextDecoder().decode(file.data)));
  } catch {
    // said below
  }
  if (value !== undefined && fits(value, DEEPEST)) return value;
  if (value !== undefined) throw new FolderError(`${name} has more than ${DEEPEST} levels. Drop it alone to see where.`);
  throw new FolderError(`${name} is not a JSON object. Drop it alone to see what is wrong with it.`);
}

/** Whether a value has no more levels; the browser writes no text of one with thousands. */
function fits(value: unknown, levels: number): boolean {
  return typeof value !== "object" || value === null || (levels > 0 && Object.values(value).every((one) => fits(one, levels - 1)));
}

function record(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

/** Paths in the drop container, as a job file has them, become those of the unpacked folder. */
function relocated(text: string, name: string, unpacked: string, files: readonly FolderFile[]): string {
  const scripts = files.map(({ path }) => path).filter((path) => /^[^/]+\.py$/.test(path));
  const [script] = scripts;
  const inside = new RegExp(String.raw`\$(?:AZ_BATCHAI_JOB_MOUNT_ROOT|\{AZ_BATCHAI_JOB_MOUNT_ROOT\})/scripts/${name.replaceAll(".", String.raw`\.`)}(?![\w.-])`, "g");
  const at = text.replace(inside, () => unpacked).replaceAll("<SLIPWAY_FOLDER>", () => unpacked);
  return scripts.length === 1 ? at.replaceAll("<SLIPWAY_SCRIPT>", () => `${unpacked}/${script}`) : at;
}

/** As `slipway run` makes it: a Python script runs once on each node, a shell script on the first; with the packages of a requirements.txt. */
function jobFile(name: string, files: readonly FolderFile[]): Members {
  const [script, ...others] = [/^[^/]+\.py$/, /^[^/]+\.sh$/]
    .map((kind) => files.filter(({ path }) => kind.test(path)))
    .find((found) => found.length > 0) ?? [];
  if (script === undefined || others.length > 0 || !PLAIN.test(script.path)) {
    throw new FolderError(`${name} does not contain a job.json, and ${script === undefined ? "no script" : "not one script alone"}: put a job.json beside the scripts.`);
  }
  const prefix = "$AZ_BATCHAI_MOUNT_ROOT/logs";
  const path = `$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/${name}/${script.path}`;
  const isPython = script.path.endsWith(".py");
  const isPackaged = files.some((file) => file.path === "requirements.txt");
  const python = { pythonScriptFilePath: path, ...(isPackaged ? { pythonInterpreterPath: `${ENVIRONMENT}/python` } : {}) };
  const shell = `${isPackaged ? `. "${ENVIRONMENT}/activate" && ` : ""}bash "${path}"`;
  return {
    properties: {
      nodeCount: 1,
      ...(isPython ? { pyTorchSettings: python } : { customToolkitSettings: { commandLine: shell } }),
      ...(isPackaged ? INSTALLED : {}),
      stdOutErrPathPrefix: prefix,
      outputDirectories: [{ id: "MODEL", pathPrefix: prefix, pathSuffix: "model" }],
    },
  };
}
