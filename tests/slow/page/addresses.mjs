// Reads paths of files (JSON, on standard input) and prints the addresses that the page makes of each.
// Its modules are bundled as for the page, and run here with as much of a browser as they touch.
import { build } from "vite";

const source = `
export { readStart } from "/src/job/save";
export { link, parseRoute } from "/src/route";
export { address } from "/src/api";
`;
const made = await build({
  configFile: false,
  logLevel: "silent",
  plugins: [
    {
      name: "entry",
      resolveId: (id) => (id.endsWith("/entry-of-test") ? "\0entry" : undefined),
      load: (id) => (id === "\0entry" ? source : undefined),
    },
  ],
  build: { write: false, minify: false, lib: { entry: "entry-of-test", formats: ["es"], fileName: "page" } },
});
const [{ code }] = [made].flat()[0].output;

const asked = [];
Object.assign(globalThis, {
  window: globalThis,
  document: { baseURI: "https://slipway.example/api/ui/" },
  sessionStorage: { getItem: () => null },
  fetch: async (url) => {
    asked.push(String(url));
    return new Response("x", { status: 200, headers: { "content-disposition": "attachment" } });
  },
});
const { address, link, parseRoute, readStart } = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);

let text = "";
for await (const piece of process.stdin) text += piece;
const answers = [];
for (const path of JSON.parse(text)) {
  await readStart({ id: "j_1", directory: "MODEL", path }, 1, 1, new AbortController().signal);
  const view = link(["jobs", "j_1", "files", "MODEL", ...path.split("/")]);
  // A browser takes the address of a link apart before the page sees what is behind its "#".
  const followed = new URL(view, document.baseURI).hash;
  answers.push({ file: asked.pop(), list: String(address("jobs/j_1/files", { directory: "MODEL", path })), steps: parseRoute(followed).steps });
}
console.log(JSON.stringify(answers));
