import { amountProblem } from "@/components/features/global-accounts/fund-model";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createAccountsPayout } from "@/lib/contracts/payouts";
import { isId } from "@/lib/core/ids";
import { parseAmount } from "@/lib/core/money";
import { remembered, textProblem, type DraftRow, type DraftValues, type RowProblems, type RowRules } from "./draft-row";

export type AccountsBody = BodyInput<typeof createAccountsPayout>;

const REFERENCE_MAX = 140;

/** The account that pays. */
export interface AccountSource {
  readonly id: string;
  readonly currency: string;
  readonly assetId: string;
  readonly decimals: number;
}

const recipientProblem = (text: string, source: AccountSource): string | null => {
  if (text === "") return "Choose an account.";
  if (!isId("globalAccount", text)) return "This is not the id of an account: it begins with ga_.";
  return text === source.id ? "This is the account that pays." : null;
};

const isCurrency = (text: string, source: AccountSource): boolean =>
  text === "" || text.toLowerCase() === source.currency.toLowerCase() || text === source.assetId;

const amountWrong = (row: DraftValues, source: AccountSource): string | null => {
  if (row.ragged)
    return "This line has more cells than the others. Check for a comma inside the amount, then enter it again.";
  return isCurrency(row.token.trim(), source)
    ? amountProblem(row.amount, source)
    : `The file says ${row.token.trim().slice(0, 20)}, but the account holds ${source.currency}. Enter the amount again.`;
};

const problemsOf = (row: DraftValues, source: AccountSource): RowProblems => {
  const recipient = recipientProblem(row.recipient.trim(), source);
  const amount = amountWrong(row, source);
  const reference = textProblem(row.reference.trim(), REFERENCE_MAX);
  return {
    ...(recipient === null ? {} : { recipient }),
    ...(amount === null ? {} : { amount }),
    ...(reference === null ? {} : { reference }),
  };
};

/** The page's own checks of rows that pay accounts; the service checks everything again. */
export const accountRules = (source: AccountSource): RowRules => {
  const rules = remembered({
    fields: ["recipient", "amount", "reference"],
    problemsOf: (row) => problemsOf(row, source),
    moneyOf: (row) =>
      rules.problemsOf(row).amount !== undefined
        ? null
        : {
            id: source.assetId,
            symbol: source.currency,
            decimals: source.decimals,
            base: parseAmount(row.amount.trim(), source.decimals),
          },
    contentOf: (row) => {
      const money = rules.moneyOf(row);
      if (money === null || row.recipient.trim() === "") return null;
      return JSON.stringify([row.recipient.trim(), String(money.base), row.reference.trim()]);
    },
  });
  return rules;
};

/** The rows of `POST /payouts/bulk/global-accounts`. */
export const accountTransfers = (rows: readonly DraftRow[], source: AccountSource): AccountsBody["transfers"] =>
  rows.map((row) => ({
    recipientAccountId: row.recipient.trim(),
    amount: row.amount.trim(),
    currency: source.assetId,
    ...(row.reference.trim() === "" ? {} : { reference: row.reference.trim() }),
  }));
