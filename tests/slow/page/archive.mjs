// Reads the entries of a listing and statuses, and prints what the page makes of them.
let status = 200;
let entries = [];
const { kindOf, listingOrReason, remarkOn } = await bundled(`export { kindOf, listingOrReason, remarkOn } from "/src/job/archive";`, {
  sessionStorage: { getItem: () => null },
  fetch: async () => new Response(JSON.stringify({ detail: "why", entries }), { status }),
});

const input = await readInput();
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
