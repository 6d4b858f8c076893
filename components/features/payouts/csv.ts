/** Cells of a CSV text (RFC 4180), also with semicolons or tabs, as spreadsheets save and paste them. Empty lines are left out. */
export const parseCsv = (text: string): string[][] => {
  const source = text.replace(/^\uFEFF/, "");
  const separator = separatorOf(source);
  const lines: string[][] = [];
  let cells: string[] = [];
  let cell = "";
  let quoted = false;
  const endCell = (): void => {
    cells.push(cell.trim());
    cell = "";
  };
  const endLine = (): void => {
    endCell();
    if (cells.some((each) => each !== "")) lines.push(cells);
    cells = [];
  };
  for (let at = 0; at < source.length; at += 1) {
    const character = source.charAt(at);
    if (quoted) {
      if (character !== '"') cell += character;
      else if (source.charAt(at + 1) === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (character === '"' && cell.trim() === "") {
      cell = "";
      quoted = true;
    } else if (character === separator) endCell();
    else if (character === "\n") endLine();
    else if (character !== "\r") cell += character;
  }
  endLine();
  return lines;
};

const SEPARATORS = ["\t", ";", ","] as const;

/** The one that the first line has most of; a comma where it has none. */
const separatorOf = (text: string): string => {
  const first = text.trimStart().split("\n", 1)[0] ?? "";
  const count = (separator: string): number => first.split(separator).length;
  return SEPARATORS.reduce((best, each) => (count(each) > count(best) ? each : best), ",");
};
