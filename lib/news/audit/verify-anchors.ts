/** Compares the seals of the audit log with their anchors on blockchains. */
import type { SqlReader } from "@/lib/platform/db/sql";
import { readAnchors } from "./anchor-repository";
import { readSealHash } from "./chain-repository";
import type { Anchor } from "./rows";
import { type AnchoredSeal, decodeAnchor } from "./rules";

type Hex = `0x${string}`;

/** A transaction that an operator knows to be an anchor, for example from a block explorer. */
export interface KnownAnchor {
  readonly chainId: number;
  readonly txHash: Hex;
}

export interface AnchorChains {
  /**
   * The data of a transaction; null when the chain does not have it.
   * @throws when the chain is not configured or does not answer
   */
  dataOf(chainId: number, txHash: Hex): Promise<Hex | null>;
}

interface AnchorReport {
  readonly anchors: number;
  readonly violations: readonly string[];
  /** One sentence per anchor that could not be compared with its chain. */
  readonly unchecked: readonly string[];
  /** The first seal that does not match its anchor. */
  readonly firstFault: number | null;
}

const nameOf = (anchor: KnownAnchor | Anchor): string =>
  `the anchor ${anchor.txHash} on chain ${String(anchor.chainId)}${"day" in anchor ? ` of ${anchor.day}` : ""}`;

/** Describes how a stored seal differs from its anchor; null when they match. */
const sealFault = async (
  sql: SqlReader,
  anchor: KnownAnchor | Anchor,
  seal: AnchoredSeal,
): Promise<string | null> => {
  const stored = await readSealHash(sql, seal.number);
  if (stored === null)
    return `anchors: seal ${String(seal.number)} of ${nameOf(anchor)} was removed`;
  return Buffer.compare(stored, seal.hash) === 0
    ? null
    : `anchors: seal ${String(seal.number)} is not the one of ${nameOf(anchor)}; the seals were made anew`;
};

/** The data of an anchor's transaction, or the reason why it cannot be read. */
const readData = async (
  chains: AnchorChains,
  { chainId, txHash }: KnownAnchor,
): Promise<{ readonly data: Hex | null } | { readonly reason: string }> => {
  try {
    return { data: await chains.dataOf(chainId, txHash) };
  } catch (error) {
    return {
      reason: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error),
    };
  }
};

/**
 * Compares each anchored seal with the data on the chain.
 * @param known further anchors, which the database may not contain
 */
export const verifyAnchors = async (
  sql: SqlReader,
  chains: AnchorChains,
  known: readonly KnownAnchor[],
): Promise<AnchorReport> => {
  const { anchors, removed, unrecorded } = await readAnchors(sql);
  // An anchor and its audit entry are stored together. If one is missing, it was removed, or the
  // other was forged.
  const violations = [
    ...removed.map((hash) => `anchors: the anchor ${hash} was removed`),
    ...unrecorded.map((anchor) => `anchors: ${nameOf(anchor)} has no entry in the audit log`),
  ];
  const unchecked: string[] = [];
  let firstFault: number | null = null;
  const check = async (anchor: KnownAnchor | Anchor): Promise<void> => {
    const stored = "sealNumber" in anchor ? anchor.sealNumber : null;
    const read = await readData(chains, anchor);
    if ("reason" in read) {
      unchecked.push(`${nameOf(anchor)} was not compared with its chain: ${read.reason}`);
      return;
    }
    const seal = read.data === null ? null : decodeAnchor(read.data);
    const isAnchor = seal !== null && (stored === null || seal.number === stored);
    const fault = isAnchor
      ? await sealFault(sql, anchor, seal)
      : `anchors: the chain does not have ${nameOf(anchor)}`;
    if (fault === null) return;
    violations.push(fault);
    const number = seal?.number ?? stored;
    if (number !== null) firstFault = Math.min(firstFault ?? number, number);
  };
  const others = known.filter(
    ({ txHash }) => !anchors.some((anchor) => anchor.txHash === txHash),
  );
  for (const anchor of [...anchors, ...others]) await check(anchor);
  return { anchors: anchors.length, violations, unchecked, firstFault };
};
