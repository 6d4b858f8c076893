import { LRUCache } from "lru-cache";
import type { Clock } from "@/lib/core/clock";
import { sumLevels, sumProof, type SumNode, type SumStep } from "./merkle-sum";

export interface SumTreeDeps {
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

export interface AccountProof {
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
  /** Null: there are no accounts. */
  readonly root: SumNode | null;
  /** Null: the account did not exist at `asOf`. */
  proof(accountId: string): AccountProof | null;
}

const EVERY_MS = 10_000;
/** Milliseconds after which all entries of an earlier time are committed, because no statement of the ledger runs longer. */
const SETTLED_MS = 20_000;
const TREES_MAX = 50;

/**
 * Merkle sum trees of the accounts at every tenth second. All instances build the same tree from the same entries, so a proof from one
 * instance matches the root from another.
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
        return { accountId, balanceBase: leaf.balance, salt: leaf.salt, index, siblings: sumProof(levels, index) };
      },
    };
  };

  return {
    of: (projectId: string, assetId: string): Promise<SumTree> => {
      const asOf = new Date(Math.floor((clock.now().getTime() - SETTLED_MS) / EVERY_MS) * EVERY_MS);
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
