// Reads logs as parts of standard output ("o:…") and of standard error ("e:…"), in the order in which they come, and
// prints the lines that the page shows of each.
const { Tails } = await bundled(`export { Tails } from "/src/job/log/tail";`);

const encoder = new TextEncoder();
const answers = (await readInput()).map((parts) => {
  const tails = new Tails("j_1", "");
  const sizes = { "stdout.txt": 0, "stderr.txt": 0 };
  for (const part of parts) {
    const file = part.startsWith("e:") ? "stderr.txt" : "stdout.txt";
    const bytes = encoder.encode(part.slice(2));
    const start = sizes[file];
    sizes[file] += bytes.length;
    tails.take({ file, start, size: sizes[file], data: Buffer.from(bytes).toString("base64") });
  }
  const whole = tails.blocks.flatMap(({ block, tail }) => block.lines.map((line) => [tail.isError, line]));
  return [...whole, ...tails.all.flatMap(({ lines, isError }) => (lines.last ? [[isError, lines.last]] : []))];
});
console.log(JSON.stringify(answers));
