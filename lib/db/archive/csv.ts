/** Rows as `COPY … CSV` of PostgreSQL reads them: every value in quotes, nothing for NULL. */

export type TextRow = readonly (string | null)[];

export const csvLine = (row: TextRow): string =>
  `${row.map((value) => (value === null ? "" : `"${value.replaceAll('"', '""')}"`)).join(",")}\n`;

/** Where the quoted text ends that begins before `from`; null: not in this text. */
const closingQuote = (text: string, from: number): number | null => {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    // The next character says whether it is a quote of the value.
    if (at + 1 >= text.length) return null;
    if (text[at + 1] !== '"') return at;
  }
  return null;
};

/** The row that begins at `from`, and where the next one does; null: it is not complete in this text. */
const rowAt = (text: string, from: number): { readonly row: TextRow; readonly next: number } | null => {
  const row: (string | null)[] = [];
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1);
      if (end === null) return null;
      row.push(text.slice(at + 1, end).replaceAll('""', '"'));
      at = end + 1;
    } else row.push(null);
    if (text[at] === "\n") return { row, next: at + 1 };
    if (text[at] !== ",") throw new Error("The file is no CSV of an archive.");
  }
  return null;
};

/** The rows of a CSV that `csvLine` has written. @throws Error where it is cut or is another form of CSV */
export const csvRows = async function* (chunks: AsyncIterable<string>): AsyncGenerator<TextRow> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    let from = 0;
    for (let found = rowAt(text, from); found !== null; found = rowAt(text, from)) {
      yield found.row;
      from = found.next;
    }
    text = text.slice(from);
  }
  if (text !== "") throw new Error("The file ends within a row.");
};
