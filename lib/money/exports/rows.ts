import { z } from "zod";
import { EXPORT_FORMATS, EXPORT_KINDS } from "@/lib/contracts/exports";
import {
  arrayOf,
  bool,
  bytes,
  count,
  int,
  json,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";

/**
 * The values of the column `state`. The API has one more state, `expired`: a ready export whose
 * `expiresAt` has passed.
 */
const STORED_STATES = ["queued", "running", "ready", "failed"] as const;

/** Table `export`: a file that is written in the background. */
export const exportRows = table({
  projectId: text,
  id: text,
  kind: oneOf(z.enum(EXPORT_KINDS)),
  format: oneOf(z.enum(EXPORT_FORMATS)),
  filters: json(z.record(z.string(), z.string())),
  /** Scopes that an API key needs in order to read the file. */
  needs: arrayOf(text),
  /** Scopes of the API key that made the export; null when a person made it. */
  scopes: nullable(arrayOf(text)),
  createdBy: text,
  state: oneOf(z.enum(STORED_STATES)),
  /** Position in the source after the last chunk; null before the first one. */
  cursor: nullable(text),
  /** Whether the last chunk is stored. */
  isWhole: bool,
  chunks: int,
  rows: count,
  bytes: count,
  sha256: nullable(bytes),
  failure: nullable(text),
  createdAt: time,
  readyAt: nullable(time),
  expiresAt: time,
});

export type ExportRow = RowOf<typeof exportRows>;

export const chunkContents = table({ content: bytes });
export const makerEmails = table({ email: text });
