import type { SqlReader } from "@/lib/db/sql";
import type { Secrets } from "@/lib/modules/encryption/service";
import { chainOf, EMPTY, HEAD_PURPOSE, headText, linkAfter, type Head } from "./chain";
import type { StoredHead } from "./link-repository";
import { linksAfter, readKnownHeads, readUnlinked, type LinkedRow } from "./verify-repository";

/** The last link of each chain at the time when it was saved; the hash is hexadecimal. */
export type SavedHeads = Readonly<Record<string, { readonly seq: number; readonly hash: string }>>;

export interface AuditReport {
  readonly chains: number;
  readonly rows: number;
  /** Committed within the last minutes, and not linked yet. */
  readonly waiting: number;
  /** One sentence for each place that does not fit. Empty: nothing was changed, removed or moved. */
  readonly violations: readonly string[];
  /** To keep outside of the database, and to compare with at the next check. */
  readonly heads: SavedHeads;
}

const BATCH = 5000;
const EXAMPLES_MAX = 20;

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** The fault of one link, or null; `head` is the link before it. */
const faultOf = (chain: string, head: Head, row: LinkedRow): string | null => {
  const { seq } = row;
  if (seq !== head.seq + 1) return `${chain}: links ${String(head.seq + 1)} to ${String(seq - 1)} are missing`;
  if (row.isRemoved) return `${chain}: row ${row.eventId} of link ${String(seq)} was removed`;
  if (chainOf(row.projectId) !== chain)
    return `${chain}: row ${row.eventId} of link ${String(seq)} was moved to another project`;
  if (!sameBytes(linkAfter(head, row).hash, row.hash))
    return `${chain}: row ${row.eventId} of link ${String(seq)} was changed or moved`;
  return null;
};

interface Walk {
  readonly head: Head;
  readonly violations: readonly string[];
}

/** Follows one chain from its first link. After a fault it continues from the stored hash, so that each fault is reported once. */
const walk = async (sql: SqlReader, chain: string, saved: SavedHeads[string] | undefined): Promise<Walk> => {
  const violations: string[] = [];
  let head = EMPTY;
  let savedFits = saved === undefined || saved.seq === 0;
  for (;;) {
    const rows = await linksAfter(sql, { chain, seq: head.seq, limit: BATCH });
    for (const row of rows) {
      const fault = faultOf(chain, head, row);
      if (fault !== null) violations.push(fault);
      head = { seq: row.seq, hash: row.hash };
      if (head.seq === saved?.seq) savedFits = hexOf(head.hash) === saved.hash;
    }
    if (rows.length < BATCH) break;
  }
  if (!savedFits)
    violations.push(
      `${chain}: link ${String(saved?.seq)} is not the one that was written down; the chain was made anew or cut`,
    );
  return { head, violations };
};

const headFaults = (stored: StoredHead, head: Head, secrets: Pick<Secrets, "matches">): readonly string[] => {
  const { chain, mac } = stored;
  if (stored.seq !== head.seq || !sameBytes(stored.hash, head.hash))
    return [`${chain}: the chain ends at link ${String(head.seq)}, its head says ${String(stored.seq)}`];
  if (!secrets.matches(HEAD_PURPOSE, headText(chain, head), mac))
    return [`${chain}: the code of its head was not made with APP_SECRET or APP_SECRET_PREVIOUS`];
  return [];
};

/**
 * Checks the whole audit log against its chains.
 * @param saved heads of an earlier check, which also show a log that was replaced whole by an older one
 */
export const verifyAudit = async (
  sql: SqlReader,
  secrets: Pick<Secrets, "matches">,
  saved: SavedHeads = {},
): Promise<AuditReport> => {
  const stored = await readKnownHeads(sql);
  const violations: string[] = [];
  const heads: Record<string, SavedHeads[string]> = {};
  let rows = 0;
  for (const one of stored) {
    const { head, violations: found } = await walk(sql, one.chain, saved[one.chain]);
    violations.push(...found.slice(0, EXAMPLES_MAX), ...headFaults(one, head, secrets));
    heads[one.chain] = { seq: head.seq, hash: hexOf(head.hash) };
    rows += head.seq;
  }
  for (const chain of Object.keys(saved)) if (!(chain in heads)) violations.push(`${chain}: the chain was removed`);
  const unlinked = await readUnlinked(sql);
  const late = unlinked.filter((row) => row.late);
  violations.push(...late.slice(0, EXAMPLES_MAX).map(({ id }) => `row ${id} has no link`));
  return { chains: stored.length, rows, waiting: unlinked.length - late.length, violations, heads };
};
