import { apiPages, PAGE_ROWS } from "@/components/features/session/api-query";
import { type Pages, usePages } from "@/components/features/session/use-lists";
import { listExports } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type ExportFile = ResponseOf<typeof listExports>["data"][number];

export const exportPages = apiPages(listExports, { query: { limit: PAGE_ROWS } });

const OPEN_MS = 1000;
const REST_MS = 30_000;

const isOpen = ({ state }: ExportFile): boolean => state === "queued" || state === "running";

/**
 * The project's exports. The list is polled, and often while a file is written, because the stream
 * of changes does not cover exports.
 */
export const useExports = (): Pages<ExportFile> =>
  usePages(exportPages, (files) => (files.some(isOpen) ? OPEN_MS : REST_MS));
