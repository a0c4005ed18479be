// Reads the entries of a listing and statuses (JSON, on standard input), and prints what the page makes of them.
import { build } from "vite";

const source = `export { kindOf, listingOrReason, remarkOn } from "/src/job/archive";`;
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

let status = 200;
let entries = [];
Object.assign(globalThis, {
  window: globalThis,
  document: { baseURI: "https://slipway.example/api/ui/" },
  sessionStorage: { getItem: () => null },
  fetch: async () => new Response(JSON.stringify({ detail: "why", entries }), { status }),
});
const { kindOf, listingOrReason, remarkOn } = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);

let text = "";
for await (const piece of process.stdin) text += piece;
const input = JSON.parse(text);
const outcomes = {};
for (status of input.statuses) {
  entries = input.entries;
  try {
    const answer = await listingOrReason("jobs/j_1/code", new AbortController().signal);
    outcomes[status] = answer instanceof Error ? `shows: ${answer.message}` : "lists";
  } catch (error) {
    outcomes[status] = `asks again: ${error.message}`;
  }
}
console.log(JSON.stringify({ outcomes, lines: input.entries.map((one) => [kindOf(one), remarkOn(one)]) }));
