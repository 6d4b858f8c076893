import type { Actor } from "@/lib/core/actor";
import type { ExportFormat, ExportKind } from "@/lib/contracts/exports";

/** A part of a file. */
export interface ExportPage {
  readonly text: string;
  /** Number of records in this part. */
  readonly rows: number;
  /** Where the next part begins; null after the last one. */
  readonly next: string | null;
}

export interface ExportRequest {
  readonly actor: Actor;
  /** The filters, in the form that the kind's schema in `EXPORT_FILTERS` accepts. */
  readonly filters: Readonly<Record<string, string>>;
  readonly format: ExportFormat;
}

/**
 * Writes one kind of export, part by part. The file consists of the parts in their order. A part
 * may be written again after a crash and must then have the same content, so a cursor names a
 * fixed place in the list.
 */
export interface ExportSource {
  readonly formats: readonly ExportFormat[];
  /**
   * Writes one part of the file.
   * @param cursor `next` of the part before; null for the first part
   */
  page(request: ExportRequest, cursor: string | null): Promise<ExportPage>;
}

export type ExportSources = Readonly<Record<ExportKind, ExportSource>>;

/**
 * Joins the parts of a complete file that belong on one page. The first part is the head of the
 * file, and only the first page includes it. Only the last page includes the last `endParts`
 * parts.
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
