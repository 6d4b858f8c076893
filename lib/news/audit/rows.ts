import { z } from "zod";
import {
  bool,
  count,
  int,
  int8,
  json,
  nullable,
  type RowOf,
  table,
  text,
  time,
  bytes,
  hex,
} from "@/lib/platform/db/table";

// The tables of this module, and the columns of its queries. Numbers of links and seals stay far
// below 2^53. Columns that the check of the log reads have no schema, so that the check can report
// a changed value instead of failing to parse it.

const auditData = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string()).readonly()]),
);

/** Facts about an action. Must not contain secrets, because people read it. */
export type AuditData = Readonly<z.output<typeof auditData>>;

const EVENT = {
  id: text,
  projectId: nullable(text),
  actor: text,
  action: text,
  subject: nullable(text),
  data: json<AuditData>(auditData),
  requestId: nullable(text),
  clientAddress: nullable(text),
  createdAt: time,
};

/** Table `audit_event`. */
export const auditEvents = table(EVENT);

export type AuditEvent = RowOf<typeof auditEvents>;

/**
 * An action with its position in the project's chain. `seq` and `hash` are null until the action
 * is linked.
 */
export const chainedEvents = table({
  ...EVENT,
  seq: nullable(count),
  hash: nullable(bytes),
});

export type ChainedAuditEvent = RowOf<typeof chainedEvents>;

const STORED = { ...EVENT, data: json(z.unknown()) };

/** The columns of an action that its hash covers. */
export const auditColumns = table(STORED);

export type AuditColumns = RowOf<typeof auditColumns>;

export const namedObjects = table({
  id: text,
  name: nullable(text),
  /** The kind of an operation, quote or payout, or `schedule`. */
  kind: nullable(text),
  /** Set for operations and quotes. */
  sources: json(z.unknown()),
  /** Set for payouts and schedules. */
  rows: nullable(int),
});

export type NamedObject = RowOf<typeof namedObjects>;

const HEAD = {
  seq: count,
  /** 32 bytes; empty for an empty chain. */
  hash: bytes,
};

/** Table `audit_head`: the last link of each chain. An empty chain has seq 0. */
export const heads = table({
  chain: text,
  ...HEAD,
  /** HMAC-SHA256 over the head. */
  mac: bytes,
  /** Identifies the application secret of `mac`. */
  keyId: text,
});

export type StoredHead = RowOf<typeof heads>;
export type Head = Pick<StoredHead, "seq" | "hash">;

export const links = table({ chain: text, ...HEAD, eventId: text });

export type Link = RowOf<typeof links>;

export const linkedRows = table({
  ...STORED,
  ...HEAD,
  eventId: text,
  /** True when the audit row was deleted; its columns are then null. */
  isRemoved: bool,
});

export type LinkedRow = RowOf<typeof linkedRows>;

export const unlinkedRows = table({
  id: text,
  /** True when the row has waited too long for a link, so it was left out of the chain. */
  late: bool,
});

export type UnlinkedRow = RowOf<typeof unlinkedRows>;

/** Table `audit_seal`: hashes over the heads of the chains that have grown. */
export const seals = table({
  /** From 1, without gaps. */
  number: count,
  at: time,
  /** The hash of the previous seal; empty for the first one. */
  previous: bytes,
  root: bytes,
  /** SHA-256, 32 bytes. It covers the previous hash, and so every head sealed until then. */
  hash: bytes,
  /** HMAC-SHA256 over the seal. */
  mac: bytes,
  /** Identifies the application secret of `mac`. */
  keyId: text,
});

export type StoredSeal = RowOf<typeof seals>;
export type Seal = Omit<StoredSeal, "mac" | "keyId">;

/** Table `audit_seal_head`: the heads of chains when a seal was made. */
export const sealedHeads = table({ chain: text, ...HEAD });

export type SealedHead = RowOf<typeof sealedHeads>;

export const comparedHeads = table({
  number: count,
  chain: text,
  ...HEAD,
  /** The link's current hash; null when the link was removed. */
  linkHash: nullable(bytes),
});

export type ComparedHead = RowOf<typeof comparedHeads>;

/** Table `audit_anchor`: seals that were anchored on a blockchain. */
export const anchors = table({
  chainId: int,
  /** The UTC day of the anchor: `2026-11-29`. */
  day: text,
  sealNumber: count,
  txHash: hex,
  blockNumber: int8,
  blockAt: time,
});

export type Anchor = RowOf<typeof anchors>;
