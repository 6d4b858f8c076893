import type { SqlReader } from "@/lib/platform/db/sql";
import { type Hints, readHints, type SeenTransfer } from "./hint-repository";
import { type DepositWallet, walletsAt } from "./wallet-repository";
import { type TokenTransfer, withMinters } from "@/lib/chain/transfer-logs";
import type { ChainRegistry } from "@/lib/chain/registry";
import { newId } from "@/lib/core/ids";
import type { Deposit } from "./rows";
import type { ScreeningService } from "@/lib/trust/screening/service";
import type { Found } from "./apply";
import { screenSenders } from "./screen";

// Decides whether an incoming transfer is a deposit or was made by an operation of the project.

/**
 * `open`: an operation that was accepted before the transfer was seen, and is still in progress,
 * may explain the transfer.
 */
export type Origin = "own" | "open" | "outside";

type IncomingTransfer = Pick<
  SeenTransfer,
  "projectId" | "chainId" | "txHash" | "walletAddress" | "token" | "amountBase"
>;

const transactionOf = ({ projectId, chainId, txHash }: IncomingTransfer): string =>
  [projectId, String(chainId), String(txHash)].join(":");

const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, amount) => total + amount, 0n);

/**
 * For each amount, whether operations explain the transfer with that amount. The amounts are those
 * of the transfers of one transaction into one wallet and token. The explained amounts never exceed
 * the sum that the operations brought, so a stranger's transfer in the transaction does not count
 * as a transfer of the project.
 */
const explainedOf = (
  amounts: readonly bigint[],
  { explained, used }: Hints,
): readonly boolean[] => {
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

/**
 * Decides the origin of each transfer from the hints with the same index. Returns the origins in
 * the order of `incoming`.
 */
export const judgeOrigins = (
  incoming: readonly IncomingTransfer[],
  hints: readonly Hints[],
): readonly Origin[] => {
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
  // An amount counts as used only when its transfer is stored as `own`. So while one transfer of a
  // transaction waits, all transfers of that transaction wait.
  const waiting = new Set(
    incoming
      .filter((_, index) => origins[index] === "open" && !explained.has(index))
      .map(transactionOf),
  );
  return incoming.map((each, index) => {
    if (!explained.has(index)) return origins[index] ?? "open";
    return waiting.has(transactionOf(each)) ? "open" : "own";
  });
};

/** Reads the hints for the transfers, and returns the origins in the order of `incoming`. */
export const originsOf = async (
  sql: SqlReader,
  incoming: readonly SeenTransfer[],
): Promise<readonly Origin[]> => judgeOrigins(incoming, await readHints(sql, incoming));

export interface Incoming {
  readonly transfer: TokenTransfer;
  readonly wallet: DepositWallet;
}

export const logKey = (at: {
  readonly projectId: string;
  readonly txHash: string | null;
  readonly logIndex: number | null;
}): string => `${at.projectId}:${String(at.txHash)}:${String(at.logIndex)}`;

export const keyOf = ({ transfer, wallet }: Incoming): string =>
  logKey({ ...transfer, projectId: wallet.projectId });

export const tokenKey = ({ transfer }: Incoming): string =>
  transfer.token.address.toLowerCase();

/**
 * Whether the stored deposit and the transfer are the same. After a reorganisation, the log at the
 * deposit's position in the transaction may be a different transfer.
 */
export const isSame = (deposit: Deposit, incoming: Incoming): boolean =>
  deposit.walletAddress === incoming.wallet.address &&
  deposit.token === tokenKey(incoming) &&
  deposit.amountBase === incoming.transfer.amountBase &&
  deposit.sender === incoming.transfer.from;

/** The transfers that go into wallets of projects, in the order of `transfers`. */
export const intoWallets = async (
  sql: SqlReader,
  transfers: readonly TokenTransfer[],
): Promise<Incoming[]> => {
  const wallets = await walletsAt(sql, [...new Set(transfers.map(({ to }) => to as string))]);
  const byAddress = new Map<string, DepositWallet[]>();
  for (const wallet of wallets)
    byAddress.set(wallet.address, [...(byAddress.get(wallet.address) ?? []), wallet]);
  return transfers.flatMap((transfer) =>
    (byAddress.get(transfer.to) ?? []).map((wallet): Incoming => ({ transfer, wallet })),
  );
};

/**
 * Fills in the sender of minted tokens: the address that sent the transaction.
 * @throws DomainError `chain_unavailable`
 */
export const withSenders = async (
  registry: ChainRegistry,
  chainId: number,
  incoming: readonly Incoming[],
): Promise<Incoming[]> => {
  const transfers = await withMinters(
    registry,
    chainId,
    incoming.map(({ transfer }) => transfer),
  );
  return incoming.map((each, index) => ({
    ...each,
    transfer: transfers[index] ?? each.transfer,
  }));
};

/**
 * The columns that follow from the log and its wallet. A deposit that comes back after a
 * reorganisation gets its former id.
 */
const rowOf = (
  incoming: Incoming,
  { known, detectedAt }: { readonly known: Deposit | undefined; readonly detectedAt: Date },
) => {
  const { transfer, wallet } = incoming;
  return {
    ...{
      projectId: wallet.projectId,
      id: known?.id ?? newId("operation"),
      chainId: transfer.token.chainId,
    },
    ...{
      txHash: transfer.txHash,
      logIndex: transfer.logIndex,
      blockNumber: transfer.blockNumber,
    },
    ...{ walletId: wallet.id, walletAddress: wallet.address, token: tokenKey(incoming) },
    ...{ sender: transfer.from, amountBase: transfer.amountBase, detectedAt },
  };
};

/**
 * Screens new transfers and returns them as deposits. Transfers that the project made are left out.
 * Transfers that the project may have made are screened too, so that a listed sender's money is
 * held immediately. They get no operation and no event until their origin is known.
 */
export const judged = async (
  screening: Pick<ScreeningService, "screen" | "isActive">,
  incoming: readonly Incoming[],
  {
    origins,
    known,
    now,
  }: { origins: readonly Origin[]; known: ReadonlyMap<string, Deposit>; now: Date },
): Promise<Found[]> => {
  const foreign = incoming.flatMap((each, index) => {
    const origin = origins[index] ?? "open";
    return origin === "own" ? [] : [{ each, origin }];
  });
  const results = await screenSenders(
    screening,
    foreign.map(({ each: { transfer, wallet } }) => ({
      ...{ chainId: transfer.token.chainId, sender: transfer.from, mode: wallet.mode },
    })),
    now,
  );
  return foreign.flatMap(({ each, origin }, index): Found[] => {
    const result = results[index];
    if (result === undefined) return [];
    const row = rowOf(each, { known: known.get(keyOf(each)), detectedAt: now });
    const { isStopped, verdict, verdictSource, listVersion, screenedAt } = result;
    const screened = { verdict, verdictSource, listVersion, screenedAt, usdMicro: null };
    if (origin === "open") {
      // When the policy allows only screened money to move, money without a verdict is held.
      const isHeld = isStopped || each.wallet.mode === "require_clear";
      return [
        { deposit: { ...row, ...screened, againAt: null, state: "unclear", isHeld }, result },
      ];
    }
    const state = isStopped ? "quarantined" : "pending";
    return [
      {
        deposit: { ...row, ...screened, againAt: result.againAt, state, isHeld: isStopped },
        result,
      },
    ];
  });
};
