import { createHash } from "node:crypto";
import {
  concatHex,
  type Hex,
  hexToBytes,
  hexToNumber,
  isHex,
  numberToHex,
  size,
  slice,
  stringToHex,
  toHex,
} from "viem";
import type { AuditColumns, Head, Seal, SealedHead } from "./rows";

/** Part of each hash, so that later versions of the hash can be distinguished. */
const VERSION = "causeway-audit-1";

/** The chain of rows without a project, such as a first sign-in. */
const SERVICE_CHAIN = "service";

export const chainOf = (projectId: string | null): string => projectId ?? SERVICE_CHAIN;

export const EMPTY: Head = { seq: 0, hash: new Uint8Array() };

/** Sorts the keys of each object, so that equal values have equal texts. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, canonical(member)]));
};

/**
 * The link after `head`. Its hash is SHA-256 (FIPS 180-4) over the chain, the position, the
 * previous hash and every column of the row, so that a changed, removed or moved row no longer
 * matches.
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

/** The text that the authentication code of a head covers. */
export const headText = (chain: string, { seq, hash }: Head): string =>
  JSON.stringify([VERSION, chain, seq, Buffer.from(hash).toString("hex")]);

/** Key purpose of the authentication codes of heads. */
export const HEAD_PURPOSE = "audit-head";

// Seals have one hash over the audit chains of all projects. A seal covers the chains that grew
// since the previous seal, and the hash of the previous seal.

/** Part of each hash, so that later versions can be distinguished. */
const SEAL_VERSION = "causeway-audit-seal-1";

/** Key purpose of the authentication codes of seals. */
export const SEAL_PURPOSE = "audit-seal";

/**
 * The name of the seals among the saved heads. No chain has this name, because project ids begin
 * with `prj_`.
 */
export const SEALS = "seals";

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const sha256 = (value: unknown): Buffer =>
  createHash("sha256").update(JSON.stringify(value)).digest();

/** The hash over the heads, sorted by chain. */
export const rootOf = (heads: readonly SealedHead[]): Uint8Array => {
  const sorted = [...heads].sort((one, other) => (one.chain < other.chain ? -1 : 1));
  return sha256([
    SEAL_VERSION,
    ...sorted.map(({ chain, seq, hash }) => [chain, seq, hexOf(hash)]),
  ]);
};

export const sealHash = ({ number, at, previous, root }: Omit<Seal, "hash">): Uint8Array =>
  sha256([SEAL_VERSION, number, at.toISOString(), hexOf(previous), hexOf(root)]);

/** The seal after `before`; the first one when `before` is null. */
export const sealAfter = (
  before: Seal | null,
  heads: readonly SealedHead[],
  at: Date,
): Seal => {
  const seal = {
    number: (before?.number ?? 0) + 1,
    at,
    previous: before?.hash ?? new Uint8Array(),
    root: rootOf(heads),
  };
  return { ...seal, hash: sealHash(seal) };
};

/** The text that the authentication code of a seal covers. */
export const sealText = ({ number, hash }: Pick<Seal, "number" | "hash">): string =>
  JSON.stringify([SEAL_VERSION, number, hexOf(hash)]);

// The transaction data that anchors a seal on a blockchain.

/**
 * The prefix of an anchor's data. It is text, so that people can recognise an anchor in a block
 * explorer.
 */
const PREFIX = stringToHex("causeway audit seal ");
const NUMBER_BYTES = 8;
const HASH_BYTES = 32;
const PREFIX_BYTES = size(PREFIX);

export interface AnchoredSeal {
  readonly number: number;
  readonly hash: Uint8Array;
}

/** The prefix, the seal's number (8 bytes, big-endian) and its hash. */
export const encodeAnchor = ({ number, hash }: AnchoredSeal): Hex =>
  concatHex([PREFIX, numberToHex(number, { size: NUMBER_BYTES }), toHex(hash)]);

export const decodeAnchor = (data: Hex): AnchoredSeal | null => {
  if (!isHex(data) || size(data) !== PREFIX_BYTES + NUMBER_BYTES + HASH_BYTES) return null;
  if (slice(data, 0, PREFIX_BYTES) !== PREFIX) return null;
  return {
    number: hexToNumber(slice(data, PREFIX_BYTES, PREFIX_BYTES + NUMBER_BYTES)),
    hash: hexToBytes(slice(data, PREFIX_BYTES + NUMBER_BYTES)),
  };
};

/** A position in a chain, or in the seals, that an operator stores outside of the database. */
export interface SavedHead {
  readonly seq: number;
  /** In hexadecimal. */
  readonly hash: string;
}

/**
 * The saved positions by name: the last link of each audit chain by chain name, and the newest seal
 * as `SEALS`.
 */
export type SavedHeads = Readonly<Record<string, SavedHead>>;
