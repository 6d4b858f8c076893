import { LeanIMT } from "@zk-kit/lean-imt";
import { poseidon2 } from "poseidon-lite/poseidon2";

/**
 * Number of latest leaves whose roots are computed one by one. A root that was published before a
 * restart is recognised only when at most this many leaves were added after it.
 */
const RECENT_ROOTS = 32;

interface SeenDeposit {
  readonly label: bigint;
  readonly isDeclined: boolean;
  /** Unix milliseconds by this machine's clock. */
  readonly seenAtMs: number;
}

/**
 * Deposits in their order, and a Merkle tree of those that are not declined. The approved leaves
 * are a prefix of the tree's leaves.
 */
export interface AssociationSet {
  /** Appends deposits. */
  add(deposits: readonly SeenDeposit[]): void;
  /**
   * Approves deposits in order, and stops at the first deposit that is not declined and for which
   * `isEnough` returns true.
   */
  review(isEnough: (next: SeenDeposit) => boolean): void;
  /** Number of deposits that are neither approved nor declined. */
  waiting(): number;
  /** Number of approved leaves. */
  approved(): number;
  /** Root of the approved leaves; undefined while there is none. */
  approvedRoot(): bigint | undefined;
  /** Number of leaves that a root covers; 0 for an unknown root. */
  sizeOf(root: bigint): number;
  approvedLeaves(): readonly bigint[];
  changedAt(): Date;
  statusOf(label: bigint): "pending" | "declined" | "approved";
}

export const createAssociationSet = (): AssociationSet => {
  const deposits: SeenDeposit[] = [];
  const indexOf = new Map<bigint, number>();
  const tree = new LeanIMT<bigint>((left, right) => poseidon2([left, right]));
  const sizeOfRoot = new Map<bigint, number>();
  const rootOfSize = new Map<number, bigint>();
  let reviewed = 0;
  let approved = 0;
  let changedAt = new Date(0);

  const remember = (): void => {
    sizeOfRoot.set(tree.root, tree.size);
    rootOfSize.set(tree.size, tree.root);
  };

  const addLeaves = (labels: readonly bigint[]): void => {
    // Inserting many leaves at once computes far fewer hashes than inserting each leaf separately.
    // Only the latest roots are needed individually.
    const many = Math.max(0, labels.length - RECENT_ROOTS);
    if (many > 0) {
      tree.insertMany(labels.slice(0, many));
      remember();
    }
    for (const label of labels.slice(many)) {
      tree.insert(label);
      remember();
    }
  };

  return {
    add: (seen) => {
      for (const deposit of seen) indexOf.set(deposit.label, deposits.push(deposit) - 1);
      addLeaves(seen.filter(({ isDeclined }) => !isDeclined).map(({ label }) => label));
    },
    review: (isEnough) => {
      for (const next of deposits.slice(reviewed)) {
        if (!next.isDeclined && isEnough(next)) return;
        reviewed += 1;
        if (next.isDeclined) continue;
        approved += 1;
        changedAt = new Date();
      }
    },
    waiting: () => deposits.length - reviewed,
    approved: () => approved,
    approvedRoot: () => rootOfSize.get(approved),
    sizeOf: (root) => sizeOfRoot.get(root) ?? 0,
    approvedLeaves: () => tree.leaves.slice(0, approved),
    changedAt: () => changedAt,
    statusOf: (label) => {
      const index = indexOf.get(label);
      if (index === undefined || index >= reviewed) return "pending";
      return deposits[index]?.isDeclined === true ? "declined" : "approved";
    },
  };
};
