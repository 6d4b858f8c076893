import type { SqlReader } from "@/lib/platform/db/sql";
import {
  chainOf,
  EMPTY,
  HEAD_PURPOSE,
  headText,
  linkAfter,
  rootOf,
  type SavedHead,
  type SavedHeads,
  SEAL_PURPOSE,
  sealHash,
  SEALS,
  sealText,
} from "./rules";
import {
  headsOfSeals,
  linksAfter,
  newestSeal,
  readKnownHeads,
  readUnlinked,
  sealsAfter,
} from "./chain-repository";
import type {
  ComparedHead,
  Head,
  LinkedRow,
  Seal,
  SealedHead,
  StoredHead,
  StoredSeal,
} from "./rows";
import type { Secrets } from "@/lib/platform/encryption/service";
import { type AnchorChains, type KnownAnchor, verifyAnchors } from "./verify-anchors";

// Compares the seals with each other, with the links of the chains, and with their anchors.

/** Number of seals per read; their heads are read too. */
const SEALS_AT_ONCE = 50;

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

const sealName = ({ number, at }: Pick<Seal, "number" | "at">): string =>
  `seal ${String(number)} of ${at.toISOString()}`;

interface Numbered {
  readonly number: number;
  readonly hash: Uint8Array;
}

/** The first fault of a seal, or null; `before` is the previous seal. */
const faultOfSeal = (
  seal: StoredSeal,
  before: Numbered | null,
  heads: readonly SealedHead[],
): string | null => {
  const expected = (before?.number ?? 0) + 1;
  if (seal.number !== expected)
    return `${SEALS}: seals ${String(expected)} to ${String(seal.number - 1)} are missing`;
  if (!sameBytes(seal.previous, before?.hash ?? new Uint8Array()))
    return `${SEALS}: ${sealName(seal)} does not follow the seal before it`;
  if (!sameBytes(seal.root, rootOf(heads)) || !sameBytes(seal.hash, sealHash(seal)))
    return `${SEALS}: ${sealName(seal)} or a head in it was changed or removed`;
  return null;
};

const headFault = (
  seal: StoredSeal,
  { chain, seq, hash, linkHash }: ComparedHead,
): string | null => {
  if (linkHash === null)
    return `${chain}: link ${String(seq)}, which ${sealName(seal)} names, was removed`;
  if (sameBytes(hash, linkHash)) return null;
  return `${chain}: link ${String(seq)} is not the one that ${sealName(seal)} names; the chain was made anew`;
};

interface SealReport {
  readonly count: number;
  readonly violations: readonly string[];
  readonly newest: StoredSeal | null;
  /**
   * The number of the saved seal, when the stored seal with this number differs from it; otherwise
   * null.
   */
  readonly firstFault: number | null;
  readonly sealedSeqs: ReadonlyMap<string, number>;
}

/**
 * Checks every seal, in batches.
 * @param saved the newest seal of an earlier check
 */
const verifySeals = async (
  sql: SqlReader,
  secrets: Pick<Secrets, "id" | "matches">,
  saved: SavedHead | undefined,
): Promise<SealReport> => {
  const violations: string[] = [];
  const sealedSeqs = new Map<string, number>();
  // Only the first fault of a chain is reported, because it causes faults in later seals.
  const faulty = new Set<string>();
  let before: StoredSeal | null = null;
  let savedFits = saved === undefined || saved.seq === 0;
  const checkHeads = (seal: StoredSeal, heads: readonly ComparedHead[]): void => {
    for (const head of heads) {
      sealedSeqs.set(head.chain, head.seq);
      const fault = headFault(seal, head);
      if (fault === null || faulty.has(head.chain)) continue;
      faulty.add(head.chain);
      violations.push(fault);
    }
  };
  for await (const { seal, heads } of eachSeal(sql)) {
    const fault = faultOfSeal(seal, before, heads);
    if (fault !== null) violations.push(fault);
    checkHeads(seal, heads);
    if (seal.number === saved?.seq) savedFits = hexOf(seal.hash) === saved.hash;
    if (seal.keyId === secrets.id && !isOurs(secrets, seal)) violations.push(foreignCode(seal));
    before = seal;
  }
  const newest: StoredSeal | null = before;
  // The codes of older seals may be from a secret that is no longer configured. The newest seal
  // confirms them.
  if (newest !== null && newest.keyId !== secrets.id && !isOurs(secrets, newest))
    violations.push(foreignCode(newest));
  if (!savedFits)
    violations.push(
      `${SEALS}: seal ${String(saved?.seq)} is not the one that was written down; seals were removed or made anew`,
    );
  const firstFault = savedFits || saved === undefined ? null : saved.seq;
  return { count: newest?.number ?? 0, violations, newest, firstFault, sealedSeqs };
};

const isOurs = (secrets: Pick<Secrets, "matches">, seal: StoredSeal): boolean =>
  secrets.matches(SEAL_PURPOSE, sealText(seal), seal.mac);

const foreignCode = (seal: StoredSeal): string =>
  `${SEALS}: the code of ${sealName(seal)} was not made with APP_SECRET or APP_SECRET_PREVIOUS`;

interface SealWithHeads {
  readonly seal: StoredSeal;
  readonly heads: readonly ComparedHead[];
}

const eachSeal = async function* (sql: SqlReader): AsyncGenerator<SealWithHeads> {
  // Seals that are made during the check are left out.
  const last = await newestSeal(sql);
  for (let after = 0; last !== null && after < last.number;) {
    const seals = (await sealsAfter(sql, after, SEALS_AT_ONCE)).filter(
      ({ number }) => number <= last.number,
    );
    const [first] = seals;
    const end = seals.at(-1);
    if (first === undefined || end === undefined) return;
    const heads = await headsOfSeals(sql, first.number, end.number);
    for (const seal of seals)
      yield { seal, heads: heads.filter(({ number }) => number === seal.number) };
    after = end.number;
  }
};

interface FirstFaults {
  readonly firstFaults: ReadonlyMap<string, number>;
  readonly firstSeal: number;
}

/**
 * The newest seal up to which everything matches: seals, sealed links, and every row before those
 * links.
 */
const lastFittingSeal = async (
  sql: SqlReader,
  { firstFaults, firstSeal }: FirstFaults,
): Promise<Seal | null> => {
  let before: StoredSeal | null = null;
  for await (const { seal, heads } of eachSeal(sql)) {
    const areHeadsFitting = heads.every(
      (head) =>
        headFault(seal, head) === null && head.seq < (firstFaults.get(head.chain) ?? Infinity),
    );
    const isFitting =
      areHeadsFitting && seal.number < firstSeal && faultOfSeal(seal, before, heads) === null;
    if (!isFitting) return before;
    before = seal;
  }
  return before;
};

export interface AuditReport {
  readonly chains: number;
  readonly rows: number;
  /** Number of rows that were committed recently and are not linked yet. */
  readonly waiting: number;
  readonly seals: number;
  readonly anchors: number;
  /** One sentence per anchor that could not be compared with its chain. */
  readonly unchecked: readonly string[];
  /** The newest seal up to which everything is unchanged; null when there is none. */
  readonly wholeUntil: Pick<Seal, "number" | "at"> | null;
  /** One sentence per mismatch; empty when nothing was changed, removed or moved. */
  readonly violations: readonly string[];
  /** The current heads, to be stored outside of the database for the next check. */
  readonly heads: SavedHeads;
}

const LINKS_AT_ONCE = 5000;
const EXAMPLES_MAX = 20;
/**
 * Milliseconds within which a row must be sealed. A row that is older than the newest seal by more
 * than this and is in no seal is a fault.
 */
const SEAL_WITHIN_MS = 10 * 60_000;

/** The fault of one link, or null; `head` is the previous link. */
const faultOfLink = (chain: string, head: Head, row: LinkedRow): string | null => {
  const { seq } = row;
  if (seq !== head.seq + 1)
    return `${chain}: links ${String(head.seq + 1)} to ${String(seq - 1)} are missing`;
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
  readonly firstFault: number | null;
}

interface WalkedChain {
  readonly chain: string;
  readonly saved: SavedHead | undefined;
  readonly sealedSeq: number;
  /** Rows older than this must be sealed. */
  readonly sealedBefore: Date;
}

/**
 * Checks one chain from its first link. After a fault it continues from the stored hash, so that
 * each fault is reported only once.
 */
const walk = async (
  sql: SqlReader,
  { chain, saved, sealedSeq, sealedBefore }: WalkedChain,
): Promise<Walk> => {
  const violations: string[] = [];
  let head = EMPTY;
  let firstFault: number | null = null;
  let unsealed: number | null = null;
  let savedFits = saved === undefined || saved.seq === 0;
  for (;;) {
    const rows = await linksAfter(sql, { chain, seq: head.seq, limit: LINKS_AT_ONCE });
    for (const row of rows) {
      const fault = faultOfLink(chain, head, row);
      if (fault !== null) {
        violations.push(fault);
        firstFault ??= Math.min(head.seq + 1, row.seq);
      }
      if (row.seq > sealedSeq && !row.isRemoved && row.createdAt < sealedBefore)
        unsealed ??= row.seq;
      head = { seq: row.seq, hash: row.hash };
      if (head.seq === saved?.seq) savedFits = hexOf(head.hash) === saved.hash;
    }
    if (rows.length < LINKS_AT_ONCE) break;
  }
  if (unsealed !== null)
    violations.push(
      `${chain}: link ${String(unsealed)} is under no seal, and later seals exist`,
    );
  if (!savedFits && saved !== undefined) {
    violations.push(
      `${chain}: link ${String(saved.seq)} is not the one that was written down; the chain was made anew or cut`,
    );
    firstFault = Math.min(firstFault ?? saved.seq, saved.seq);
  }
  return { head, violations, firstFault };
};

const headFaults = (
  stored: StoredHead,
  head: Head,
  secrets: Pick<Secrets, "matches">,
): readonly string[] => {
  const { chain, mac } = stored;
  if (stored.seq !== head.seq || !sameBytes(stored.hash, head.hash))
    return [
      `${chain}: the chain ends at link ${String(head.seq)}, its head says ${String(stored.seq)}`,
    ];
  if (!secrets.matches(HEAD_PURPOSE, headText(chain, head), mac))
    return [
      `${chain}: the code of its head was not made with APP_SECRET or APP_SECRET_PREVIOUS`,
    ];
  return [];
};

interface ChainsReport {
  readonly rows: number;
  readonly violations: readonly string[];
  readonly heads: SavedHeads;
  readonly firstFaults: ReadonlyMap<string, number>;
}

interface ChainsRequest {
  readonly secrets: Pick<Secrets, "matches">;
  readonly saved: SavedHeads;
  readonly seals: SealReport;
}

const verifyChains = async (
  sql: SqlReader,
  stored: readonly StoredHead[],
  { secrets, saved, seals }: ChainsRequest,
): Promise<ChainsReport> => {
  const violations: string[] = [];
  const firstFaults = new Map<string, number>();
  const heads: Record<string, SavedHead> = {};
  const sealedBefore = new Date(
    (seals.newest?.at.getTime() ?? SEAL_WITHIN_MS) - SEAL_WITHIN_MS,
  );
  let rows = 0;
  for (const one of stored) {
    const { chain } = one;
    const walked = {
      chain,
      saved: saved[chain],
      sealedSeq: seals.sealedSeqs.get(chain) ?? 0,
      sealedBefore,
    };
    const { head, violations: found, firstFault } = await walk(sql, walked);
    violations.push(...found.slice(0, EXAMPLES_MAX), ...headFaults(one, head, secrets));
    firstFaults.set(chain, firstFault ?? head.seq + 1);
    heads[chain] = { seq: head.seq, hash: hexOf(head.hash) };
    rows += head.seq;
  }
  for (const chain of Object.keys(saved))
    if (chain !== SEALS && !(chain in heads))
      violations.push(`${chain}: the chain was removed`);
  return { rows, violations, heads, firstFaults };
};

interface VerifyOptions {
  /**
   * Heads of an earlier check. With them the check also detects that the whole log was replaced by
   * an older one.
   */
  readonly saved?: SavedHeads;
  /** Access to the chains with anchors. Without it, no anchor can be compared. */
  readonly chains?: AnchorChains;
  /** Anchors that the operator knows, independent of the database. */
  readonly knownAnchors?: readonly KnownAnchor[];
}

const NO_CHAINS: AnchorChains = {
  dataOf: () => Promise.reject(new Error("no chain is configured")),
};

/**
 * Checks the audit log against its chains, the chains against the seals, and the seals against
 * their anchors.
 */
export const verifyAudit = async (
  sql: SqlReader,
  secrets: Pick<Secrets, "id" | "matches">,
  { saved = {}, chains = NO_CHAINS, knownAnchors = [] }: VerifyOptions = {},
): Promise<AuditReport> => {
  // Seals are checked first: a chain that grows during the check still has every sealed link.
  const seals = await verifySeals(sql, secrets, saved[SEALS]);
  const stored = await readKnownHeads(sql);
  const walked = await verifyChains(sql, stored, { secrets, saved, seals });
  const anchored = await verifyAnchors(sql, chains, knownAnchors);
  const unlinked = await readUnlinked(sql);
  const late = unlinked.filter((row) => row.late);
  const violations = [
    ...walked.violations,
    ...seals.violations.slice(0, EXAMPLES_MAX),
    ...anchored.violations.slice(0, EXAMPLES_MAX),
    ...late.slice(0, EXAMPLES_MAX).map(({ id }) => `row ${id} has no link`),
  ];
  const firstSeal = Math.min(anchored.firstFault ?? Infinity, seals.firstFault ?? Infinity);
  const { newest } = seals;
  return {
    chains: stored.length,
    rows: walked.rows,
    waiting: unlinked.length - late.length,
    seals: seals.count,
    anchors: anchored.anchors,
    unchecked: anchored.unchecked,
    wholeUntil:
      violations.length === 0 ? newest : await lastFittingSeal(sql, { ...walked, firstSeal }),
    violations,
    heads:
      newest === null
        ? walked.heads
        : { ...walked.heads, [SEALS]: { seq: newest.number, hash: hexOf(newest.hash) } },
  };
};
