// Loaded into Azurite before it starts (node --import). By itself it answers from memory and writes to disk every
// five seconds, so a kill takes back what it has acknowledged, which the service that it stands for never does.
// With this, no byte of an answer leaves before all that happened until then is on disk. Answers that wait at
// the same time share one write.
import http from "node:http";
import { createRequire } from "node:module";

const Loki = createRequire(process.argv[1])("lokijs");
const databases = new Set();
Loki.prototype.autosaveEnable = function () {
  databases.add(this); // and no timer: we save
};

const saved = (database) =>
  new Promise((done, failed) => database.saveDatabase((error) => (error ? failed(error) : done())));

let running = null;
let next = null;
function onDisk() {
  if (running !== null) return (next ??= running.then(() => ((next = null), onDisk())));
  const dirty = [...databases].filter((database) => database.autosaveDirty());
  if (dirty.length === 0) return Promise.resolve();
  return (running = Promise.all(dirty.map(saved)).finally(() => (running = null)));
}

const order = Symbol("the part of this answer before");
for (const name of ["write", "end"]) {
  const original = http.ServerResponse.prototype[name];
  http.ServerResponse.prototype[name] = function (...args) {
    this[order] = Promise.all([this[order], onDisk()]).then(() => original.apply(this, args));
    return name === "end" ? this : true;
  };
}
