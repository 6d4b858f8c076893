/** Distinguishes transfers that the project's own operations made from deposits. */
import type { SqlReader } from "@/lib/db/sql";
import { readHints, type Hints, type Incoming } from "./origin-repository";

/** `open`: something that was under way when it was seen may explain it, and has not ended. */
export type Origin = "own" | "open" | "outside";

type IncomingTransfer = Pick<Incoming, "projectId" | "chainId" | "txHash" | "walletAddress" | "token" | "amountBase">;

const transactionOf = ({ projectId, chainId, txHash }: IncomingTransfer): string =>
  [projectId, String(chainId), String(txHash)].join(":");

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/**
 * Which transfers of one transaction into one wallet and token the operations explain. Together they are no more than what the operations
 * brought there: a stranger's transfer in the same transaction is not taken for one of them.
 */
const explainedOf = (amounts: readonly bigint[], { explained, used }: Hints): readonly boolean[] => {
  const exact = [...explained];
  const takeExact = (amount: bigint): boolean => {
    const index = exact.indexOf(amount);
    if (index >= 0) exact.splice(index, 1);
    return index >= 0;
  };
  for (const amount of used) takeExact(amount);
  let left = sum(explained) - sum(used);
  const isExplained = amounts.map((amount) => {
    const isExact = amount <= left && takeExact(amount);
    if (isExact) left -= amount;
    return isExact;
  });
  return amounts.map((amount, index) => {
    if (isExplained[index] === true) return true;
    if (amount > left) return false;
    left -= amount;
    return true;
  });
};

/** In the order of `incoming`. */
export const judgeOrigins = (incoming: readonly IncomingTransfer[], hints: readonly Hints[]): readonly Origin[] => {
  const origins = incoming.map((_, index): Origin => {
    const hint = hints[index];
    if (hint === undefined) return "open";
    if (hint.isOwnSender) return "own";
    return hint.mayBeOwn ? "open" : "outside";
  });
  const groups = new Map<string, number[]>();
  incoming.forEach((each, index) => {
    if (hints[index]?.isOwnSender !== false || hints[index].explained.length === 0) return;
    const key = `${transactionOf(each)}:${each.walletAddress}:${each.token}`;
    const group = groups.get(key) ?? [];
    group.push(index);
    groups.set(key, group);
  });
  const explained = new Set<number>();
  for (const group of groups.values()) {
    const [first = 0] = group;
    const hint = hints[first];
    if (hint === undefined) continue;
    const amounts = group.map((index) => incoming[index]?.amountBase ?? 0n);
    explainedOf(amounts, hint).forEach((isExplained, at) => {
      if (isExplained) explained.add(group[at] ?? 0);
    });
  }
  // An explanation is used up only once its transfer is stored as own: while one transfer waits, all of its transaction wait.
  const waiting = new Set(
    incoming.filter((_, index) => origins[index] === "open" && !explained.has(index)).map(transactionOf),
  );
  return incoming.map((each, index) => {
    if (!explained.has(index)) return origins[index] ?? "open";
    return waiting.has(transactionOf(each)) ? "open" : "own";
  });
};

/** In the order of `incoming`. */
export const originsOf = async (sql: SqlReader, incoming: readonly Incoming[]): Promise<readonly Origin[]> =>
  judgeOrigins(incoming, await readHints(sql, incoming));
