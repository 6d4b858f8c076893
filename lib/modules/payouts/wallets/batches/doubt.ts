/** Judges from the chain which rows of a batch in doubt were paid. */
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { sharedOpinion } from "@/lib/chains/agreement";
import type { ExecutedAttempt } from "@/lib/modules/smart-accounts/service";
import type { PayableRow } from "./payout-batch";

export type Verdict =
  /** No operation of the batch is found, although its nonce is used: the node may not keep logs of that time. */
  | { readonly kind: "unseen" }
  /** The chain shows something else for this row than was asked for; with `isLost` a payment of a move that the database lost. */
  | { readonly kind: "unclear"; readonly row: PayableRow; readonly isLost?: true }
  /** `by` is null where nothing was paid. */
  | { readonly kind: "proven"; readonly unpaid: readonly PayableRow[]; readonly by: ExecutedAttempt | null };

interface Evidence {
  readonly token: Token;
  readonly rows: readonly PayableRow[];
  /** The operations that were executed under the batch's own names. */
  readonly own: readonly ExecutedAttempt[];
  /** Those under names of the payout that no batch of it names. */
  readonly others: readonly ExecutedAttempt[];
}

/**
 * A row was paid when an own operation has a payment of exactly its amount to its recipient, each payment for one row; it was not paid
 * when no operation of the payout names its recipient.
 */
export const judge = ({ token, rows, own, others }: Evidence): Verdict => {
  if (own.length === 0) return { kind: "unseen" };
  const done = own.filter(({ success }) => success);
  const tokenAddress = token.address.toLowerCase();
  const payments = done.flatMap((one) => one.payments.filter((each) => each.token.toLowerCase() === tokenAddress));
  const payloads = [...done, ...others.filter(({ success }) => success)].map(({ payload }) => payload);
  const unpaid: PayableRow[] = [];
  for (const row of rows) {
    const recipient = row.recipient.toLowerCase();
    const amount = formatAmount(row.amountBase, token.decimals);
    const at = payments.findIndex((payment) => payment.to.toLowerCase() === recipient && payment.amount === amount);
    if (at >= 0) payments.splice(at, 1);
    else if (payloads.some((payload) => payload.includes(recipient.slice(2)))) return { kind: "unclear", row };
    else unpaid.push(row);
  }
  return { kind: "proven", unpaid, by: unpaid.length === rows.length ? null : (done.at(-1) ?? null) };
};

/** The verdict where moves that the database lost in a restore made the payments of some rows: none of these is proven as unpaid. */
export const withLost = (verdict: Verdict, lost: readonly PayableRow[]): Verdict => {
  if (verdict.kind !== "proven") return verdict;
  const row = verdict.unpaid.find(({ index }) => lost.some((one) => one.index === index));
  return row === undefined ? verdict : { kind: "unclear", row, isLost: true };
};

const outcomeOf = (verdict: Verdict): readonly unknown[] => {
  if (verdict.kind === "unseen") return [];
  if (verdict.kind === "unclear") return [verdict.row.index];
  const { unpaid, by } = verdict;
  return [unpaid.map(({ index }) => index), by?.userOpHash, by?.txHash, String(by?.blockNumber)];
};

/** The verdict to which two providers of the chain lead; null where they do not agree, or too few answer. */
export const agreedVerdict = (verdicts: readonly Verdict[]): Verdict | null =>
  sharedOpinion(verdicts, (verdict) => JSON.stringify([verdict.kind, ...outcomeOf(verdict)]));

/** Whether a single provider proves something else than that all rows were paid, or that none was. */
export const contradicts = (verdict: Verdict, decision: "paid" | "not_paid", rows: number): boolean =>
  verdict.kind === "proven" && verdict.unpaid.length !== (decision === "paid" ? 0 : rows);
