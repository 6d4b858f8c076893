import type { Actor } from "@/lib/core/actor";
import type { ExportFormat, ExportKind } from "@/lib/contracts/exports";

/** A part of a file. */
export interface ExportPage {
  readonly text: string;
  /** Number of records in it. */
  readonly rows: number;
  /** Where the next part begins; null after the last one. */
  readonly next: string | null;
}

export interface ExportRequest {
  readonly actor: Actor;
  /** The filters as the kind's schema in `EXPORT_FILTERS` accepts them. */
  readonly filters: Readonly<Record<string, string>>;
  readonly format: ExportFormat;
}

/**
 * Writes one kind of export, part by part. The parts joined are the file, so a part that is written
 * again after a crash must be the same: a cursor names a fixed place in the list.
 */
export interface ExportSource {
  readonly formats: readonly ExportFormat[];
  /** @param cursor `next` of the part before; null for the first part */
  page(request: ExportRequest, cursor: string | null): Promise<ExportPage>;
}

export type ExportSources = Readonly<Record<ExportKind, ExportSource>>;

/**
 * Takes the parts of a page out of a generator of a whole file, whose first part is the head of the
 * file. The head stays only on the first page, and the last `endParts` parts only on the last one.
 */
export const pageText = async (
  parts: AsyncIterable<string>,
  page: { readonly isFirst: boolean; readonly isLast: boolean; readonly endParts?: number },
): Promise<string> => {
  const all: string[] = [];
  for await (const part of parts) all.push(part);
  const end = page.isLast ? all.length : all.length - (page.endParts ?? 0);
  return all.slice(page.isFirst ? 0 : 1, end).join("");
};
