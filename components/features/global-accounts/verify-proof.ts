import type { ResponseOf } from "@/lib/contracts/contract";
import type { getReservesProof } from "@/lib/contracts/reserves";

export type ReservesProof = ResponseOf<typeof getReservesProof>;

interface Node {
  /** 32 bytes, 0x hex. */
  readonly hash: string;
  /** Base units. */
  readonly sum: bigint;
}

const SUM_MAX = 2n ** 256n - 1n;
const STEPS_MAX = 64;
const TEXT_MAX = 0xffff;
const encoder = new TextEncoder();

const fromHex = (hex: string): number[] =>
  (hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));

const sumBytes = (value: bigint): number[] => {
  if (value < 0n || value > SUM_MAX)
    throw new RangeError("A sum lies outside of 0 to 2^256 - 1.");
  return fromHex(value.toString(16).padStart(64, "0"));
};

const hashBytes = (hash: string): number[] => {
  if (!/^0x[0-9a-f]{64}$/.test(hash))
    throw new RangeError("A hash is not 32 bytes of lower-case hex.");
  return fromHex(hash.slice(2));
};

const textBytes = (text: string): number[] => {
  const bytes = encoder.encode(text);
  if (bytes.length > TEXT_MAX) throw new RangeError("A text is too long.");
  return [bytes.length >> 8, bytes.length & 0xff, ...bytes];
};

const sha256 = async (bytes: readonly number[]): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes));
  return `0x${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

const parent = async (left: Node, right: Node): Promise<Node> => ({
  hash: await sha256([
    1,
    ...hashBytes(left.hash),
    ...sumBytes(left.sum),
    ...hashBytes(right.hash),
    ...sumBytes(right.sum),
  ]),
  sum: left.sum + right.sum,
});

/**
 * Computes the root of a proof without trusting the service. Leaf: SHA-256(0x00 ‖ asset ‖ account ‖
 * salt ‖ balance). Node: SHA-256(0x01 ‖ left hash ‖ left sum ‖ right hash ‖ right sum). Each text
 * has a two-byte length prefix. Sums have 32 bytes. All numbers are big-endian.
 * @throws RangeError for an invalid proof; SyntaxError for a sum that is not a number
 */
export const rootOfProof = async (proof: ReservesProof): Promise<Node> => {
  if (proof.siblings.length > STEPS_MAX) throw new RangeError("A proof has too many steps.");
  const balance = BigInt(proof.balanceBase);
  const texts = [proof.assetId, proof.accountId, proof.salt].flatMap(textBytes);
  let node: Node = { hash: await sha256([0, ...texts, ...sumBytes(balance)]), sum: balance };
  for (const { side, hash, sumBase } of proof.siblings) {
    const sibling = { hash, sum: BigInt(sumBase) };
    node = side === "left" ? await parent(sibling, node) : await parent(node, sibling);
  }
  return node;
};

/** Whether the proof leads to the root that it contains. False for an invalid proof. */
export const holds = async (proof: ReservesProof): Promise<boolean> => {
  try {
    const { hash, sum } = await rootOfProof(proof);
    return hash === proof.root.hash && sum === BigInt(proof.root.sumBase);
  } catch {
    return false;
  }
};
