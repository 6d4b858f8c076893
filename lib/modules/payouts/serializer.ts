import type { ResponseOf } from "@/lib/contracts/contract";
import type { createAccountsPayout, getPayout, listPayoutItems, listPayouts } from "@/lib/contracts/payouts";
import { failureRecord } from "@/lib/contracts/operations";
import { csvLine } from "@/lib/core/csv";
import { formatAmount } from "@/lib/core/money";
import { isFinal } from "@/lib/core/status";
import { toBigInt } from "@/lib/db/decimal";
import { itemStatusOf, LEDGER_DECIMALS, type PayoutItemRow, type PayoutRow, type PayoutView } from "./service";

type Body = ResponseOf<typeof getPayout>;
type Item = ResponseOf<typeof listPayoutItems>["data"][number];

const units = (value: PayoutRow["totalBase"]): string => formatAmount(toBigInt(value), LEDGER_DECIMALS);

const nextActionOf = (payout: PayoutRow): string => {
  switch (payout.status) {
    case "pending":
      return payout.subStatus === "awaiting_approval"
        ? "Approve it with a one-time code, or cancel it. Nothing was paid."
        : "Nothing to do: it is about to be paid.";
    case "processing":
      return "Nothing to do: it is being paid.";
    case "completed":
      return "Nothing to do: every row was paid.";
    case "partially_completed":
      return "Some rows failed; their money is in the paying account. Retry pays those alone.";
    case "failed":
      return "Nothing was paid; the money is in the paying account. Retry once the reason is gone.";
    case "refunded":
    case "cancelled":
    case "expired":
      return "Nothing was paid; the money is in the paying account.";
  }
};

export const toPayout = ({ payout, asset }: PayoutView): Body => ({
  payoutId: payout.id,
  kind: "global_accounts",
  mode: payout.mode,
  status: payout.status,
  subStatus: payout.subStatus,
  sourceAccountId: payout.sourceAccountId,
  currency: asset?.symbol ?? payout.currency,
  assetId: payout.currency,
  decimals: asset?.decimals ?? LEDGER_DECIMALS,
  reference: payout.reference,
  total: units(payout.totalBase),
  paid: units(payout.paidBase),
  items: {
    total: payout.itemsTotal,
    pending: isFinal(payout.status) ? 0 : payout.itemsTotal - payout.itemsCompleted - payout.itemsFailed,
    completed: payout.itemsCompleted,
    failed: payout.itemsFailed,
  },
  failure: payout.failure === null ? null : failureRecord.parse(payout.failure),
  retryOf: payout.retryOf,
  nextAction: nextActionOf(payout),
  createdBy: payout.createdBy,
  createdAt: payout.createdAt.toISOString(),
  updatedAt: payout.updatedAt.toISOString(),
  expiresAt: payout.expiresAt?.toISOString() ?? null,
});

export const toNewPayout = (view: PayoutView): ResponseOf<typeof createAccountsPayout> => ({
  ...toPayout(view),
  payoutId: view.payout.id === "" ? null : view.payout.id,
});

export const toPayouts = (page: {
  data: readonly PayoutView[];
  nextCursor: string | null;
}): ResponseOf<typeof listPayouts> => ({ data: page.data.map(toPayout), nextCursor: page.nextCursor });

const toItem = ({ payout, asset }: PayoutView, item: PayoutItemRow): Item => {
  const status = itemStatusOf(payout, item);
  const failure = item.failure ?? (status === "failed" ? payout.failure : null);
  return {
    index: item.index,
    recipientAccountId: item.recipientAccountId,
    amount: formatAmount(item.amountBase, LEDGER_DECIMALS),
    currency: asset?.symbol ?? payout.currency,
    reference: item.reference,
    status,
    transactionId: item.transactionId,
    failure: failure === null ? null : failureRecord.parse(failure),
  };
};

export const toItems = (
  page: PayoutView & { data: readonly PayoutItemRow[]; nextCursor: string | null },
): ResponseOf<typeof listPayoutItems> => ({
  data: page.data.map((item) => toItem(page, item)),
  nextCursor: page.nextCursor,
});

const CSV_HEAD = ["index", "recipientAccountId", "amount", "currency", "reference", "status", "transaction", "failure"];

/** A line for each row (RFC 4180). */
export const itemsCsv = async function* (view: PayoutView, rows: AsyncIterable<PayoutItemRow>): AsyncGenerator<string> {
  yield csvLine(CSV_HEAD);
  for await (const row of rows) {
    const item = toItem(view, row);
    const result = [item.status, item.transactionId, item.failure?.message ?? null];
    yield csvLine([
      item.index,
      item.recipientAccountId,
      { raw: item.amount },
      item.currency,
      item.reference,
      ...result,
    ]);
  }
};
