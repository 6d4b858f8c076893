import { parseDelimited } from "@/components/features/file-import/table";

/**
 * Returns the header of the export `csv` and its lines for the movements with these `ids`. The text
 * of the lines is not changed.
 * @throws Error naming how many movements the export lacks
 */
export const selectedLines = (csv: string, ids: readonly string[]): string => {
  const { rows, lines } = parseDelimited(csv, ",");
  const column = (rows[0] ?? []).findIndex((cell) => cell === "id");
  const texts = csv.split("\n");
  const wanted = new Set(ids);
  const found = new Set<string>();
  const kept = rows.flatMap((row, index) => {
    const id = row[column];
    const isKept = index === 0 || (typeof id === "string" && wanted.has(id));
    if (!isKept) return [];
    if (index > 0 && typeof id === "string") found.add(id);
    const from = (lines[index] ?? 1) - 1;
    const to = index + 1 < lines.length ? (lines[index + 1] ?? 1) - 1 : texts.length;
    return [texts.slice(from, to).join("\n").replace(/\n*$/, "\n")];
  });
  if (found.size < wanted.size)
    throw new Error(`${String(wanted.size - found.size)} of them are not in the export.`);
  return kept.join("");
};
