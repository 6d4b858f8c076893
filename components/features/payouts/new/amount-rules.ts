import { countText } from "@/lib/core/amount-text";
import { isDomainError } from "@/lib/core/errors";
import { AMOUNT_PATTERN, parseAmount } from "@/lib/core/money";
import { isSameText } from "@/lib/core/same-text";
import { readAmountCell } from "../import/amount-format";
import type { ImportColumn } from "../import/column-names";
import type { DraftValues } from "./draft-row";

export interface PaidIn {
  readonly symbol: string;
  readonly decimals: number;
  /** Whether one token is one US dollar. */
  readonly isDollar: boolean;
}

const DOLLAR = /^(US)?\$(US)?$|^USD$/i;
const ZERO = /^[0.]*$/;
const TOO_LONG = "The number has more digits than any token can hold.";

const unitFits = (unit: string, { symbol, isDollar }: PaidIn): boolean =>
  isSameText(unit, symbol) || (isDollar && DOLLAR.test(unit));

const unitProblem = (row: DraftValues, paidIn: PaidIn): string | null => {
  const other = row.units.find((unit) => !unitFits(unit, paidIn));
  if (other === undefined) return null;
  const { symbol } = paidIn;
  const mismatch = `The file says ${row.amount.trim()} in "${other.slice(0, 20)}", but the row pays ${symbol}`;
  return DOLLAR.test(other)
    ? `${mismatch}, which is not pegged to the dollar. Enter the amount in ${symbol}.`
    : `${mismatch}. Enter the amount in ${symbol}.`;
};

/**
 * The problem of a row's amount; null when there is none.
 * @param paidIn null while the row's token is unknown
 */
export const rowAmountProblem = (row: DraftValues, paidIn: PaidIn | null): string | null => {
  if (row.refusals.amount !== undefined) return row.refusals.amount;
  const text = row.amount.trim();
  if (text === "") return "Enter an amount.";
  if (!AMOUNT_PATTERN.test(text)) {
    const reading = readAmountCell(text, "point");
    if ("refusal" in reading) return reading.refusal;
    return AMOUNT_PATTERN.test(reading.amount) ? "Enter an amount such as 1250.50." : TOO_LONG;
  }
  if (ZERO.test(text)) return "The amount is zero. Enter what to pay, or remove the row.";
  if (paidIn === null) return null;
  try {
    parseAmount(text, paidIn.decimals);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return error.code === "amount_precision"
      ? `${paidIn.symbol} has ${String(paidIn.decimals)} digits after the point, no more.`
      : TOO_LONG;
  }
  return unitProblem(row, paidIn);
};

export const FIELD_WORDS = {
  recipient: "Recipient",
  amount: "Amount",
  token: "Token",
  reference: "Reference",
  note: "Note",
  chain: "Chain",
  type: "Token type",
  row: "Row",
} as const satisfies Record<ImportColumn | "row", string>;

/** `1 row`, `1,250 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
