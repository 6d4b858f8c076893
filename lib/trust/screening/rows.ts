import { int, table, text, time, bytes } from "@/lib/platform/db/table";

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
  entries: int,
  importedBy: text,
  importedAt: time,
});
