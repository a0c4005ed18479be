/** The first rows of a CSV that a job wrote; a formula in it is text like any other. */
const [ROWS, COLUMNS] = [50, 100];

export function Table({ text }: { text: string }) {
  const rows = rowsOf(text);
  const widest = Math.max(...rows.map((row) => row.length));
  return (
    <>
      <div class="preview" tabIndex={0} role="region" aria-label="First rows">
        <table>
          <tbody>
            {rows.slice(0, ROWS).map((row, index) => (
              <tr key={index}>
                {row.slice(0, COLUMNS).map((cell, column) => (
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > ROWS && <p class="quiet">Only the first {ROWS} rows are shown.</p>}
      {widest > COLUMNS && <p class="quiet">Only the first {COLUMNS} columns are shown.</p>}
    </>
  );
}

/** Each place in a text begins a cell, so that none is looked at again and again. */
const CELL = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n?|\n|$)/g;

/** The rows, and one more where there are others. A cell in quotes may have commas, line ends, and quotes, which are doubled. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = "", end] of text.trimEnd().matchAll(CELL)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ",") continue;
    rows.push(row);
    row = [];
    if (rows.length > ROWS || end === "") break;
  }
  return rows;
}
