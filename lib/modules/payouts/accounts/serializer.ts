import type { z } from "zod";
import type { accountsPayoutItem, accountsPayoutRecord } from "@/lib/contracts/payout-records";
import { csvLine } from "@/lib/core/csv";
import { formatAmount } from "@/lib/core/money";
import { isFinal } from "@/lib/core/status";
import { toCommon } from "../common-serializer";
import type { AccountsPayout } from "../payout";
import { LEDGER_DECIMALS } from "@/lib/modules/ledger/service";
import { mayOf } from "../permissions";
import type { AccountsPayoutView } from "../read-payouts";
import { UNREAD_ACTION } from "../readable";
import type { PayoutItemRow } from "./rows";
import { itemStatusOf } from "./row-status";

type Record = z.output<typeof accountsPayoutRecord>;
type Item = z.output<typeof accountsPayoutItem>;

const units = (value: AccountsPayout["totalBase"]): string => formatAmount(value, LEDGER_DECIMALS);

const nextActionOf = (payout: AccountsPayout): string => {
  if (payout.unread === true) return UNREAD_ACTION;
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

export const toAccountsPayout = (view: AccountsPayoutView): Record => {
  const { payout, asset } = view;
  return {
    ...toCommon(payout),
    kind: payout.kind,
    sourceAccountId: payout.sourceAccountId,
    currency: asset?.symbol ?? payout.currency,
    assetId: payout.currency,
    decimals: asset?.decimals ?? LEDGER_DECIMALS,
    total: units(payout.totalBase),
    paid: units(payout.paidBase),
    usd: view.usd,
    items: {
      total: payout.itemsTotal,
      pending: isFinal(payout.status) ? 0 : payout.itemsTotal - payout.itemsCompleted - payout.itemsFailed,
      completed: payout.itemsCompleted,
      failed: payout.itemsFailed,
    },
    nextAction: nextActionOf(payout),
    may: mayOf(view),
  };
};

export const toAccountsItem = ({ payout, asset }: AccountsPayoutView, item: PayoutItemRow): Item => {
  const status = itemStatusOf(payout, item);
  const failure = item.failure ?? (status === "failed" ? payout.failure : null);
  return {
    kind: payout.kind,
    index: item.index,
    recipientAccountId: item.recipientAccountId,
    amount: formatAmount(item.amountBase, LEDGER_DECIMALS),
    currency: asset?.symbol ?? payout.currency,
    reference: item.reference,
    status,
    transactionId: item.transactionId,
    failure,
  };
};

export const ACCOUNTS_CSV_HEAD = csvLine([
  "index",
  "recipientAccountId",
  "amount",
  "currency",
  "reference",
  "status",
  "transaction",
  "failure",
  "failureCode",
]);

export const accountsCsvLine = (view: AccountsPayoutView, row: PayoutItemRow): string => {
  const item = toAccountsItem(view, row);
  const result = [item.status, item.transactionId, item.failure?.message ?? null, item.failure?.code ?? null];
  return csvLine([item.index, item.recipientAccountId, { raw: item.amount }, item.currency, item.reference, ...result]);
};
