import { z } from "zod";
import { cellText, parseDelimited } from "@/components/features/file-import/table";
import { ROW_STATUSES } from "@/lib/core/payout-facts";
import { rowStateOf, type RowState } from "./payout";

export interface PayoutRow {
  readonly index: number;
  /** Address or id of an account. */
  readonly recipient: string;
  readonly amount: string;
  readonly unit: string;
  /** Address of the token or `native`; empty for payouts between accounts. */
  readonly token: string;
  readonly reference: string;
  readonly note: string;
  readonly state: RowState;
  /** Index of the transaction that pays the row; null for payouts between accounts. */
  readonly batch: number | null;
  /** Hash of the transaction on the chain, or id of the transaction in the ledger. */
  readonly transaction: string;
  readonly failure: string;
}

const text = z.string().default("");
const line = z.object({
  index: z.coerce.number().int(),
  address: text,
  recipientAccountId: text,
  amount: text,
  token: text,
  tokenAddress: text,
  currency: text,
  reference: text,
  note: text,
  status: z.enum(ROW_STATUSES),
  batch: z.string().default(""),
  transaction: text,
  failure: text,
  failureCode: text,
});

/**
 * Reads the rows of a payout from its CSV export, which has all of them in one answer.
 * @throws ZodError when a column is missing or wrong
 */
export const parseRowsFile = (csv: string): PayoutRow[] => {
  const [header = [], ...lines] = parseDelimited(csv, ",").rows;
  return lines.map((cells) => {
    const row = line.parse(
      Object.fromEntries(
        header.map((name, column) => [cellText(name), cellText(cells[column])]),
      ),
    );
    return {
      index: row.index,
      recipient: row.address === "" ? row.recipientAccountId : row.address,
      amount: row.amount,
      unit: row.token === "" ? row.currency : row.token,
      token: row.tokenAddress,
      reference: row.reference,
      note: row.note,
      state: rowStateOf(row.status, row.failureCode),
      batch: row.batch === "" ? null : Number(row.batch),
      transaction: row.transaction,
      failure: row.failure,
    };
  });
};
