import { toDecimal } from "@/lib/db/decimal";
import { storedWalletTransactions } from "@/lib/modules/operations/new-leg";
import type { LegChange } from "@/lib/modules/operations/repository";
import { toStored } from "@/lib/ports/routing-json";
import type { MinedSource, NetworkFee, Step } from "./step";

const latest = (blocks: readonly bigint[]): bigint => blocks.reduce((one, other) => (one > other ? one : other), 0n);

/** What a wallet sent, as one: null until the transaction that carries the money on is mined. The others may have failed. */
export const readWalletReceipt = async (step: Step): Promise<MinedSource | null> => {
  const mined = await minedTransactions(step);
  const last = mined.at(-1);
  if (last === null || last === undefined) return null;
  return { ...last, ...together(mined) };
};

/** Null for what is not mined, and for what only its hash is known of: it may be anything that the wallet ever sent. */
const minedTransactions = ({ accounts, leg }: Step) => {
  const { transactions } = storedWalletTransactions.parse(leg.walletTransactions);
  return Promise.all(
    transactions.map(({ hash, nonce }) =>
      nonce === null ? Promise.resolve(null) : accounts.sent.receipt(leg.sourceChainId, hash),
    ),
  );
};

type Mined = Awaited<ReturnType<typeof minedTransactions>>;

/** The cost replaces the one stored before, so a repeated step does not count it twice. */
export const feeChange = ({ costWei, paidBy }: NetworkFee): LegChange => ({
  gasCostWei: toDecimal(costWei),
  gasPaidBy: paidBy,
});

const together = (mined: Mined): Pick<MinedSource, "blockNumber" | "logs" | "fee"> => {
  const effective = mined.filter((receipt) => receipt !== null);
  return {
    blockNumber: latest(effective.map(({ blockNumber }) => blockNumber)),
    logs: effective.flatMap(({ logs }) => logs).map((log, logIndex) => ({ ...log, logIndex })),
    // One that reverted was paid for too.
    fee: { costWei: effective.reduce((sum, { costWei }) => sum + costWei, 0n), paidBy: "wallet" },
  };
};

/** What is to be noted of a leg that stops: what earlier transactions of its wallet did is done. */
export const stoppedChange = (
  { routing, request, routeLeg, leg }: Step,
  source: Pick<MinedSource, "logs">,
): LegChange => {
  if (leg.via !== "transaction") return { spentBase: toDecimal(0n) };
  const { spentBase, bought } = routing.readStopped(request, routeLeg, source);
  if (bought === null) return { spentBase: toDecimal(spentBase) };
  return {
    spentBase: toDecimal(spentBase),
    refundedBase: toDecimal(bought.amountBase),
    refundToken: toStored(bought.token),
  };
};

/** As `stoppedChange`, for a leg whose last transaction will not come. */
export const readStopped = async (step: Step): Promise<LegChange> => {
  const source = together(await minedTransactions(step));
  return { ...stoppedChange(step, source), ...(source.fee.costWei > 0n ? feeChange(source.fee) : {}) };
};
