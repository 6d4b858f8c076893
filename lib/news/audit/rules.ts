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

/** Part of each hash, so that a later form of the hash can be distinguished. */
const VERSION = "causeway-audit-1";

/** The chain of rows without a project, such as a first sign-in. */
const SERVICE_CHAIN = "service";

export const chainOf = (projectId: string | null): string => projectId ?? SERVICE_CHAIN;

export const EMPTY: Head = { seq: 0, hash: new Uint8Array() };

/** JSON with the keys of each object in order, so that equal values have equal texts. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, canonical(member)]));
};

/**
 * The link that follows `head`. Its hash is SHA-256 (FIPS 180-4) over the chain, the position, the
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

/** The text that the authentication code of a chain's head covers. */
export const headText = (chain: string, { seq, hash }: Head): string =>
  JSON.stringify([VERSION, chain, seq, Buffer.from(hash).toString("hex")]);

/** Purpose of the codes of heads, for the keys of the application secret. */
export const HEAD_PURPOSE = "audit-head";

// One hash over the audit chains of all projects: each seal names the chains that grew since the
// previous seal, and that seal's hash.

/** Part of each hash, so that a later form can be distinguished. */
const SEAL_VERSION = "causeway-audit-seal-1";

/** Purpose of the codes of seals, for the keys of the application secret. */
export const SEAL_PURPOSE = "audit-seal";

/**
 * The name of the seals among the saved heads. Project ids begin with `prj_`, so no chain has this
 * name.
 */
export const SEALS = "seals";

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const sha256 = (value: unknown): Buffer =>
  createHash("sha256").update(JSON.stringify(value)).digest();

/** The hash over the heads, in the order of their chains for any order of the input. */
export const rootOf = (heads: readonly SealedHead[]): Uint8Array => {
  const sorted = [...heads].sort((one, other) => (one.chain < other.chain ? -1 : 1));
  return sha256([
    SEAL_VERSION,
    ...sorted.map(({ chain, seq, hash }) => [chain, seq, hexOf(hash)]),
  ]);
};

/** The hash that a seal must have. */
export const sealHash = ({ number, at, previous, root }: Omit<Seal, "hash">): Uint8Array =>
  sha256([SEAL_VERSION, number, at.toISOString(), hexOf(previous), hexOf(root)]);

/** The seal that follows `before`; the first one when `before` is null. */
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

// The data of a transaction that anchors a seal on a blockchain.

/** Readable for anybody who looks at the chain. */
const PREFIX = stringToHex("causeway audit seal ");
const NUMBER_BYTES = 8;
const HASH_BYTES = 32;
const PREFIX_BYTES = size(PREFIX);

export interface AnchoredSeal {
  readonly number: number;
  /** SHA-256 of the seal. */
  readonly hash: Uint8Array;
}

/** The prefix, the seal's number (8 bytes, big-endian) and its hash. */
export const encodeAnchor = ({ number, hash }: AnchoredSeal): Hex =>
  concatHex([PREFIX, numberToHex(number, { size: NUMBER_BYTES }), toHex(hash)]);

/** The seal in a transaction's data; null when the data contains none. */
export const decodeAnchor = (data: Hex): AnchoredSeal | null => {
  if (!isHex(data) || size(data) !== PREFIX_BYTES + NUMBER_BYTES + HASH_BYTES) return null;
  if (slice(data, 0, PREFIX_BYTES) !== PREFIX) return null;
  return {
    number: hexToNumber(slice(data, PREFIX_BYTES, PREFIX_BYTES + NUMBER_BYTES)),
    hash: hexToBytes(slice(data, PREFIX_BYTES + NUMBER_BYTES)),
  };
};

/** A position of a chain, or of the seals, that an operator stores outside of the database. */
export interface SavedHead {
  readonly seq: number;
  /** In hexadecimal. */
  readonly hash: string;
}

/**
 * The saved positions by name: the last link of each audit chain under the name of the chain, and
 * the newest seal under the name `SEALS`.
 */
export type SavedHeads = Readonly<Record<string, SavedHead>>;
