// Puts the pages of a list together: each case is a list of steps, a page that was read again or one that follows, and
// the answer is what the list has after each step.
const { extended, refreshed } = await bundled(`export { extended, refreshed } from "/src/jobs/list";`);

const answers = (await readInput()).map((steps) => {
  let list = { jobs: [], next: null };
  return steps.map(([kind, page]) => {
    list = kind === "again" ? refreshed(list, page) : extended(list, page);
    return { ids: list.jobs.map(({ id }) => id), next: list.next, searchedTo: list.searchedTo ?? null };
  });
});
console.log(JSON.stringify(answers));
