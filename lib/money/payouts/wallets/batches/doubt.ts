/** Judges from the operations on the chain which rows of a batch in doubt were paid. */
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { sharedOpinion } from "@/lib/chain/agreement";
import type { ExecutedAttempt } from "@/lib/chain/smart-accounts/service";
import type { PayableRow } from "./payout-batch";

export type Verdict =
  /**
   * No operation of the batch was found, although its nonce is used. The provider's node may no
   * longer have the logs of that time.
   */
  | { readonly kind: "unseen" }
  /**
   * The chain shows a payment to the row's recipient that differs from the row. With `isLost`, a
   * movement that the database lost in a restore made a payment that equals the row.
   */
  | { readonly kind: "unclear"; readonly row: PayableRow; readonly isLost?: true }
  /**
   * The chain shows for every row whether it was paid. `by` is the operation that paid rows; null
   * when no row was paid.
   */
  | {
      readonly kind: "proven";
      readonly unpaid: readonly PayableRow[];
      readonly by: ExecutedAttempt | null;
    };

interface Evidence {
  readonly token: Token;
  readonly rows: readonly PayableRow[];
  /** The operations that were executed under the names of the batch's attempts. */
  readonly own: readonly ExecutedAttempt[];
  /**
   * The operations that were executed under other names of the payout, without the operations that
   * paid the other batches.
   */
  readonly others: readonly ExecutedAttempt[];
}

/**
 * Judges the rows of a batch. A row was paid when an operation of the batch has a payment of
 * exactly its amount to its recipient; each payment counts for one row. A row was not paid when no
 * operation of the payout mentions its recipient. Otherwise the row is unclear.
 */
export const judge = ({ token, rows, own, others }: Evidence): Verdict => {
  if (own.length === 0) return { kind: "unseen" };
  const done = own.filter(({ success }) => success);
  const tokenAddress = token.address.toLowerCase();
  const payments = done.flatMap((one) =>
    one.payments.filter((each) => each.token.toLowerCase() === tokenAddress),
  );
  const payloads = [...done, ...others.filter(({ success }) => success)].map(
    ({ payload }) => payload,
  );
  const unpaid: PayableRow[] = [];
  for (const row of rows) {
    const recipient = row.recipient.toLowerCase();
    const amount = formatAmount(row.amountBase, token.decimals);
    const at = payments.findIndex(
      (payment) => payment.to.toLowerCase() === recipient && payment.amount === amount,
    );
    if (at >= 0) payments.splice(at, 1);
    else if (payloads.some((payload) => payload.includes(recipient.slice(2))))
      return { kind: "unclear", row };
    else unpaid.push(row);
  }
  return {
    kind: "proven",
    unpaid,
    by: unpaid.length === rows.length ? null : (done.at(-1) ?? null),
  };
};

/**
 * Changes a verdict when movements that the database lost in a restore have paid some rows. Such
 * rows are not proven as unpaid, so the verdict becomes `unclear`.
 */
export const withLost = (verdict: Verdict, lost: readonly PayableRow[]): Verdict => {
  if (verdict.kind !== "proven") return verdict;
  const row = verdict.unpaid.find(({ index }) => lost.some((one) => one.index === index));
  return row === undefined ? verdict : { kind: "unclear", row, isLost: true };
};

const outcomeOf = (verdict: Verdict): readonly unknown[] => {
  if (verdict.kind === "unseen") return [];
  if (verdict.kind === "unclear") return [verdict.row.index];
  const { unpaid, by } = verdict;
  return [
    unpaid.map(({ index }) => index),
    by?.userOpHash,
    by?.txHash,
    String(by?.blockNumber),
  ];
};

/**
 * Returns the verdict on which two providers of the chain agree; null when they do not agree or too
 * few have answered.
 */
export const agreedVerdict = (verdicts: readonly Verdict[]): Verdict | null =>
  sharedOpinion(verdicts, (verdict) => JSON.stringify([verdict.kind, ...outcomeOf(verdict)]));

/**
 * Whether the verdict of one provider contradicts a person's statement that all rows were paid, or
 * that no row was paid.
 */
export const contradicts = (
  verdict: Verdict,
  decision: "paid" | "not_paid",
  rows: number,
): boolean =>
  verdict.kind === "proven" && verdict.unpaid.length !== (decision === "paid" ? 0 : rows);
