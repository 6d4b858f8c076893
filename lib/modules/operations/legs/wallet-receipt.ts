import type { Leg, LegChange, WalletTransactions } from "@/lib/modules/operations/leg";
import type { MinedSource, NetworkFee, Step } from "./step";

/** `agreed`: something counts as not mined only when the chain's providers agree on it. */
type Reading = "quick" | "agreed";

const latest = (blocks: readonly bigint[]): bigint => blocks.reduce((one, other) => (one > other ? one : other), 0n);

/**
 * The outcome of all of the wallet's transactions; null until the last one, which moves the money, is mined. The others
 * may have failed.
 */
export const readWalletReceipt = async (step: Step, reading: Reading = "quick"): Promise<MinedSource | null> => {
  const mined = await minedTransactions(step, reading);
  const last = mined.at(-1);
  if (last === null || last === undefined) return null;
  return { ...last, ...together(mined) };
};

/** @throws Error for a leg whose wallet sends no transactions by itself */
export const walletTransactionsOf = ({ id, walletTransactions }: Leg): WalletTransactions => {
  if (walletTransactions === null) throw new Error(`Leg ${id} has no transactions of a wallet.`);
  return walletTransactions;
};

/**
 * Null for transactions that are not mined or of which only the hash is known, since such a hash may name any
 * transaction of the wallet.
 */
const minedTransactions = ({ smartAccounts, leg }: Step, reading: Reading) => {
  const { transactions } = walletTransactionsOf(leg);
  const receiptOf = reading === "agreed" ? smartAccounts.sent.agreedReceipt : smartAccounts.sent.receipt;
  return Promise.all(
    transactions.map(({ hash, nonce }) =>
      nonce === null ? Promise.resolve(null) : receiptOf(leg.sourceChainId, hash),
    ),
  );
};

type Mined = Awaited<ReturnType<typeof minedTransactions>>;

/** The cost replaces the one stored before, so a repeated step does not count it twice. */
export const feeChange = ({ costWei, paidBy }: NetworkFee): LegChange => ({
  gasCostWei: costWei,
  gasPaidBy: paidBy,
});

const together = (mined: Mined): Pick<MinedSource, "blockNumber" | "logs" | "fee"> => {
  const effective = mined.filter((receipt) => receipt !== null);
  return {
    blockNumber: latest(effective.map(({ blockNumber }) => blockNumber)),
    logs: effective.flatMap(({ logs }) => logs).map((log, logIndex) => ({ ...log, logIndex })),
    // A reverted transaction costs gas too.
    fee: { costWei: effective.reduce((sum, { costWei }) => sum + costWei, 0n), paidBy: "wallet" },
  };
};

/** The columns of a leg that stops. Earlier transactions of its wallet may have spent or bought something already. */
export const stoppedChange = (
  { routing, request, routeLeg, leg }: Step,
  source: Pick<MinedSource, "logs">,
): LegChange => {
  if (leg.via !== "transaction") return { spentBase: 0n };
  const { spentBase, bought } = routing.readStopped(request, routeLeg, source);
  if (bought === null) return { spentBase: spentBase };
  return {
    spentBase: spentBase,
    refundedBase: bought.amountBase,
    refundToken: bought.token,
  };
};

/** Like `stoppedChange`, for a leg whose last transaction can no longer be mined. */
export const readStopped = async (step: Step): Promise<LegChange> => {
  const source = together(await minedTransactions(step, "agreed"));
  return { ...stoppedChange(step, source), ...(source.fee.costWei > 0n ? feeChange(source.fee) : {}) };
};
