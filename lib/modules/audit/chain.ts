import { createHash } from "node:crypto";
import type { AuditColumns } from "./audit-event";

/** Part of each hash, so that a later form of the hash can be distinguished from this one. */
const VERSION = "causeway-audit-1";

/** The chain of rows that belong to no project, such as a sign-in before there is one. */
const SERVICE_CHAIN = "service";

export const chainOf = (projectId: string | null): string => projectId ?? SERVICE_CHAIN;

/** The last link of a chain. An empty chain has seq 0. */
export interface Head {
  readonly seq: number;
  /** 32 bytes; empty for an empty chain. */
  readonly hash: Uint8Array;
}

export const EMPTY: Head = { seq: 0, hash: new Uint8Array() };

/** JSON with the keys of each object in order, so that equal values have equal texts. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, canonical(member)]));
};

/**
 * The link that follows `head`: its hash is SHA-256 (FIPS 180-4) over the chain, the place, the hash before and every column of the
 * row, so that a row which is changed, removed or moved fits no longer.
 */
export const linkAfter = (head: Head, row: AuditColumns): Head => {
  const seq = head.seq + 1;
  const text = JSON.stringify([
    VERSION,
    chainOf(row.projectId),
    seq,
    Buffer.from(head.hash).toString("hex"),
    row.id,
    row.actor,
    row.action,
    row.subject,
    canonical(row.data),
    row.requestId,
    row.clientAddress,
    row.createdAt.toISOString(),
  ]);
  return { seq, hash: createHash("sha256").update(text).digest() };
};

/** The text that the authentication code of a chain's head covers. */
export const headText = (chain: string, { seq, hash }: Head): string =>
  JSON.stringify([VERSION, chain, seq, Buffer.from(hash).toString("hex")]);

/** Purpose of the codes of heads, for the keys of the application secret. */
export const HEAD_PURPOSE = "audit-head";
