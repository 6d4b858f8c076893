import type { z } from "zod";
import type { activityRecord } from "@/lib/contracts/activity";
import { movedPayoutTitle, OPERATION_WORDS } from "@/lib/core/titles";

export type ActivityRow = z.output<typeof activityRecord>;

export const ACTIVITY_WORDS = {
  ...OPERATION_WORDS,
  payout_to_wallets: "Payout to wallets",
  payout_to_accounts: "Payout to accounts",
  funding: "Account funding",
  funding_reversal: "Funding taken back",
} as const satisfies Record<ActivityRow["kind"], string>;

/**
 * The kinds of movements in the API contract. They are taken from `ACTIVITY_WORDS`, so that the
 * page does not load the contract's schemas.
 */
export const ACTIVITY_KINDS = Object.keys(
  ACTIVITY_WORDS,
) as readonly (keyof typeof ACTIVITY_WORDS)[];

/** The name of a movement's kind. A payout to wallets that an account funds is a withdrawal. */
export const wordsOf = ({ kind, source }: Pick<ActivityRow, "kind" | "source">): string =>
  kind === "payout_to_wallets" && source !== null
    ? `Withdrawal from ${source.name ?? "an account"}`
    : ACTIVITY_WORDS[kind];

export const payoutTitleOf = (
  row: ActivityRow,
  options: { readonly hidden: boolean; readonly locale: string },
): string | null => (row.id.startsWith("po_") ? movedPayoutTitle(row, options) : null);

const accountIdOf = ({ source, counterparty }: ActivityRow): string | null =>
  source?.accountId ?? (counterparty?.type === "account" ? counterparty.accountId : null);

export const pathOfEntry = (row: ActivityRow): string => {
  if (row.id.startsWith("po_")) return `/payouts/${row.id}`;
  if (row.id.startsWith("op_"))
    return row.transferId === null ? `/activity/${row.id}` : `/private/${row.transferId}`;
  return `/accounts/${accountIdOf(row) ?? ""}`;
};
