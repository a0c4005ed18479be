// Reads paths of files and prints the addresses that the page makes of each.
const source = `
export { readStart } from "/src/job/outputs/save";
export { link, parseRoute } from "/src/route";
export { address } from "/src/api";
`;
const asked = [];
const { address, link, parseRoute, readStart } = await bundled(source, {
  sessionStorage: { getItem: () => null },
  fetch: async (url) => {
    asked.push(String(url));
    return new Response("x", { status: 200, headers: { "content-disposition": "attachment" } });
  },
});

const answers = [];
for (const path of await readInput()) {
  await readStart({ id: "j_1", directory: "MODEL", path }, 1, 1, new AbortController().signal);
  const view = link(["jobs", "j_1", "files", "MODEL", ...path.split("/")]);
  // A browser takes the address of a link apart before the page sees what is behind its "#".
  const followed = new URL(view, document.baseURI).hash;
  answers.push({ file: asked.pop(), list: String(address("jobs/j_1/files", { directory: "MODEL", path })), steps: parseRoute(followed).steps });
}
console.log(JSON.stringify(answers));
