// Reads logs as parts of standard output ("o:…") and of standard error ("e:…"), in the order in which they come, and
// prints the lines that the page shows of each.
const source = `export { Tails } from "/src/job/log/tail"; export { Lines, Order } from "/src/job/log/lines";`;
const { Tails, Order } = await bundled(source);

const encoder = new TextEncoder();
const answers = (await readInput()).map((parts) => {
  const tails = new Tails("j_1", ["stdout.txt", "stderr.txt"], "", new Order());
  for (const part of parts) tails.all[part.startsWith("e:") ? 1 : 0].lines.append(encoder.encode(part.slice(2)));
  const whole = tails.blocks.flatMap(({ block, isError }) => block.lines.map((line) => [isError, line]));
  return [...whole, ...tails.all.flatMap(({ lines, isError }) => (lines.last ? [[isError, lines.last]] : []))];
});
console.log(JSON.stringify(answers));
