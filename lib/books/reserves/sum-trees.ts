import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "@/lib/core/clock";

/**
 * A Merkle sum tree: every node contains the sum of the balances below it. If the operator omits an
 * account or adds a negative balance, the published root does not match the proofs of account
 * holders.
 *
 * - leaf: SHA-256(0x00 ‖ len(asset) ‖ asset ‖ len(account) ‖ account ‖ len(salt) ‖ salt ‖ balance)
 * - node: SHA-256(0x01 ‖ left.hash ‖ left.sum ‖ right.hash ‖ right.sum); its sum is left.sum +
 * right.sum
 *
 * Lengths have two bytes, sums and balances 32 bytes, all big-endian; texts are UTF-8. The
 * different first bytes prevent that a node is presented as a leaf (RFC 6962 §2.1). A node without
 * a sibling moves up to the next level unchanged.
 */
interface SumNode {
  /** 32 bytes, 0x hex. */
  readonly hash: string;
  /** In base units. */
  readonly sum: bigint;
}

export interface SumLeaf {
  readonly assetId: string;
  readonly accountId: string;
  /**
   * A secret of the account. It prevents finding the balance by trying values against the leaf's
   * hash.
   */
  readonly salt: string;
  readonly balance: bigint;
}

interface SumStep extends SumNode {
  readonly side: "left" | "right";
}

const SUM_MAX = 2n ** 256n - 1n;
const STEPS_MAX = 64;

const sumBytes = (value: bigint): Buffer => {
  if (value < 0n || value > SUM_MAX)
    throw new RangeError("A sum lies outside of 0 to 2^256 - 1.");
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
};

const hashBytes = (hash: string): Buffer => {
  if (!/^0x[0-9a-f]{64}$/.test(hash))
    throw new RangeError("A hash is not 32 bytes of lower-case hex.");
  return Buffer.from(hash.slice(2), "hex");
};

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value, "utf8");
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

const sha256 = (...parts: readonly Buffer[]): string =>
  `0x${createHash("sha256").update(Buffer.concat(parts)).digest("hex")}`;

export const leafNode = ({ assetId, accountId, salt, balance }: SumLeaf): SumNode => ({
  hash: sha256(Buffer.of(0), text(assetId), text(accountId), text(salt), sumBytes(balance)),
  sum: balance,
});

const parent = (left: SumNode, right: SumNode): SumNode => ({
  hash: sha256(
    Buffer.of(1),
    hashBytes(left.hash),
    sumBytes(left.sum),
    hashBytes(right.hash),
    sumBytes(right.sum),
  ),
  sum: left.sum + right.sum,
});

export const sumLevels = (leaves: readonly SumLeaf[]): readonly (readonly SumNode[])[] => {
  const levels: SumNode[][] = [leaves.map(leafNode)];
  for (let level = levels[0] ?? []; level.length > 1;) {
    const next: SumNode[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const [left, right] = [level[index], level[index + 1]];
      if (left) next.push(right ? parent(left, right) : left);
    }
    levels.push(next);
    level = next;
  }
  return levels;
};

export const sumProof = (
  levels: readonly (readonly SumNode[])[],
  leafIndex: number,
): SumStep[] => {
  const steps: SumStep[] = [];
  let index = leafIndex;
  for (const level of levels.slice(0, -1)) {
    const neighbour = level[index % 2 === 0 ? index + 1 : index - 1];
    if (neighbour) steps.push({ ...neighbour, side: index % 2 === 0 ? "right" : "left" });
    index = Math.floor(index / 2);
  }
  return steps;
};

/**
 * Computes the root from a leaf and its proof.
 * @throws RangeError when a number or hash of the proof has an invalid form
 */
export const rootOf = (leaf: SumLeaf, steps: readonly SumStep[]): SumNode => {
  if (steps.length > STEPS_MAX) throw new RangeError("A proof has too many steps.");
  return steps.reduce(
    (node, step) => (step.side === "left" ? parent(step, node) : parent(node, step)),
    leafNode(leaf),
  );
};

interface SumTreeDeps {
  readonly ledger: {
    balancesAt(
      projectId: string,
      currency: string,
      at: Date,
    ): Promise<readonly { readonly accountId: string; readonly balanceBase: bigint }[]>;
  };
  readonly secrets: { hash(purpose: string, text: string): Buffer };
  readonly clock: Clock;
}

interface AccountProof {
  readonly accountId: string;
  readonly balanceBase: bigint;
  readonly salt: string;
  readonly index: number;
  readonly siblings: readonly SumStep[];
}

/** The Merkle sum tree of all accounts of a currency at the time `asOf`. */
export interface SumTree {
  readonly asOf: Date;
  readonly accounts: number;
  /** Null when there are no accounts. */
  readonly root: SumNode | null;
  /** Null when the account did not exist at `asOf`. */
  proof(accountId: string): AccountProof | null;
}

const EVERY_MS = 10_000;
/**
 * Milliseconds after which all entries of an earlier time are committed. No statement of the ledger
 * runs longer.
 */
const SETTLED_MS = 20_000;
const TREES_MAX = 50;

/**
 * Builds Merkle sum trees of the accounts at every tenth second. All instances build the same tree
 * from the same entries, so a proof from one instance matches the root from another.
 */
export const createSumTrees = ({ ledger, secrets, clock }: SumTreeDeps) => {
  const known = new LRUCache<string, Promise<SumTree>>({ max: TREES_MAX });

  const build = async (projectId: string, assetId: string, asOf: Date): Promise<SumTree> => {
    const balances = await ledger.balancesAt(projectId, assetId, asOf);
    const leaves = balances.map(({ accountId, balanceBase }) => ({
      assetId,
      accountId,
      salt: secrets.hash("reserve-leaf", accountId).toString("hex"),
      balance: balanceBase,
    }));
    const levels = sumLevels(leaves);
    const indexOf = new Map(leaves.map(({ accountId }, index) => [accountId, index]));
    return {
      asOf,
      accounts: leaves.length,
      root: levels.at(-1)?.[0] ?? null,
      proof: (accountId) => {
        const index = indexOf.get(accountId);
        const leaf = index === undefined ? undefined : leaves[index];
        if (index === undefined || leaf === undefined) return null;
        return {
          accountId,
          balanceBase: leaf.balance,
          salt: leaf.salt,
          index,
          siblings: sumProof(levels, index),
        };
      },
    };
  };

  return {
    of: (projectId: string, assetId: string): Promise<SumTree> => {
      const asOf = new Date(
        Math.floor((clock.now().getTime() - SETTLED_MS) / EVERY_MS) * EVERY_MS,
      );
      const key = `${projectId}:${assetId}:${String(asOf.getTime())}`;
      const cached = known.get(key);
      if (cached) return cached;
      const tree = build(projectId, assetId, asOf);
      known.set(key, tree);
      tree.catch(() => known.delete(key));
      return tree;
    },
  };
};
