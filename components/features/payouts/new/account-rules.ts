import type { BodyInput } from "@/lib/contracts/contract";
import type { createAccountsPayout } from "@/lib/contracts/payouts";
import { isId } from "@/lib/core/ids";
import { parseAmount } from "@/lib/core/money";
import { isSameText } from "@/lib/core/same-text";
import { rowAmountProblem } from "./amount-rules";
import {
  type DraftRow,
  type DraftValues,
  filledText,
  foundProblems,
  type RowProblems,
  type RowRules,
  rowRules,
  textProblem,
} from "./draft-row";

export type AccountsBody = BodyInput<typeof createAccountsPayout>;

const REFERENCE_MAX = 140;

export interface AccountSource {
  readonly id: string;
  readonly currency: string;
  readonly assetId: string;
  readonly decimals: number;
  /** Whether one unit of the currency is one US dollar. */
  readonly isDollar: boolean;
}

const recipientProblem = (text: string, source: AccountSource): string | null => {
  if (text === "") return "Choose an account.";
  if (!isId("globalAccount", text))
    return "This is not the id of an account: it begins with ga_.";
  return text === source.id ? "This is the account that pays." : null;
};

const isCurrency = (text: string, source: AccountSource): boolean =>
  text === "" || isSameText(text, source.currency) || text === source.assetId;

const amountProblem = (row: DraftValues, source: AccountSource): string | null => {
  const token = row.token.trim();
  if (row.refusals.token !== undefined)
    return `The file names no currency for this row. Enter the amount in ${source.currency}.`;
  if (!isCurrency(token, source))
    return `The file says ${token.slice(0, 20)}, but the account holds ${source.currency}. Enter the amount again.`;
  const { currency: symbol, decimals, isDollar } = source;
  return rowAmountProblem(row, { symbol, decimals, isDollar });
};

const problemsOf = (row: DraftValues, source: AccountSource): RowProblems =>
  foundProblems({
    recipient: row.refusals.recipient ?? recipientProblem(row.recipient.trim(), source),
    amount: amountProblem(row, source),
    reference: textProblem(row.reference.trim(), REFERENCE_MAX),
  });

/**
 * The checks that the page makes of rows that pay accounts. The service checks everything again.
 */
export const accountRules = (source: AccountSource): RowRules =>
  rowRules({
    fields: ["recipient", "amount", "reference"],
    columns: ["recipient", "amount", "token", "reference"],
    problemsOf: (row) => problemsOf(row, source),
    payOf: ({ amount }) => ({
      id: source.assetId,
      symbol: source.currency,
      decimals: source.decimals,
      base: parseAmount(amount.trim(), source.decimals),
    }),
  });

/** The rows of `POST /payouts/bulk/global-accounts`. */
export const accountTransfers = (
  rows: readonly DraftRow[],
  source: Pick<AccountSource, "assetId">,
): AccountsBody["transfers"] =>
  rows.map((row) => ({
    recipientAccountId: row.recipient.trim(),
    amount: row.amount.trim(),
    currency: source.assetId,
    reference: filledText(row.reference),
  }));
