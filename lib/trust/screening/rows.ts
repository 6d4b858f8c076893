import { type Column, int, table, text, time } from "@/lib/platform/db/table";

const bytes: Column<Uint8Array> = {
  type: "bytea",
  select: (name) => name,
  read: (stored) => stored as Uint8Array,
  write: (value) => `\\x${Buffer.from(value).toString("hex")}`,
};

/**
 * Table `screening_list`: imported sanctions lists. Versions are only added, because the record of
 * a screening names the version that it used.
 */
export const screeningLists = table({
  name: text,
  version: int,
  digest: bytes,
  source: text,
  keyId: text,
  issuedAt: time,
  validUntil: time,
  /** Number of entries. */
  entries: int,
  importedBy: text,
  importedAt: time,
});
