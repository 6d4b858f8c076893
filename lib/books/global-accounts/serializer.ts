import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  createGlobalAccount,
  fundGlobalAccount,
  getStatement,
  listEntries,
  listGlobalAccounts,
  reverseFunding,
} from "@/lib/contracts/global-accounts";
import type { getReserveStatement } from "@/lib/contracts/reserves";
import { type CsvCell, csvLine, type CsvText, joinCsv } from "@/lib/core/csv";
import { formatAmount } from "@/lib/core/money";
import { kindOf, type StatementOwner } from "./entry-kind";
import {
  LEDGER_DECIMALS,
  type AccountStatement,
  type BookStatement,
  type Funding,
  type GlobalAccount,
  type GlobalAccountsService,
  type ReserveStatement,
  type Reversal,
} from "./service";

type AccountBody = ResponseOf<typeof createGlobalAccount>;
type Entries = Awaited<ReturnType<GlobalAccountsService["entries"]>>;
type Entry = Entries["data"][number];
type EntryBody = ResponseOf<typeof listEntries>["data"][number];

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

const currencyOf = ({ account, asset }: GlobalAccount) => ({
  currency: asset?.symbol ?? account.currency,
  assetId: account.currency,
  decimals: asset?.decimals ?? LEDGER_DECIMALS,
});

export const toAccount = (own: GlobalAccount): AccountBody => {
  const { account, pendingBase } = own;
  return {
    id: account.id,
    ...currencyOf(own),
    name: account.name,
    status: account.status,
    statusReason: account.statusReason,
    balance: {
      available: units(account.postedBase - pendingBase),
      pending: units(pendingBase),
      posted: units(account.postedBase),
    },
    version: Number(account.version),
    createdAt: account.createdAt.toISOString(),
  };
};

export const toAccounts = (page: {
  data: readonly GlobalAccount[];
  nextCursor: string | null;
}): ResponseOf<typeof listGlobalAccounts> => ({
  data: page.data.map(toAccount),
  nextCursor: page.nextCursor,
});

export const toFunding = (funding: Funding): ResponseOf<typeof fundGlobalAccount> => ({
  id: funding.fundingId,
  fundingId: funding.fundingId,
  status: "completed",
  accountId: funding.account.id,
  amount: units(funding.amountBase),
  ...currencyOf(funding),
  transactionId: funding.transactionId,
  balance: toAccount(funding).balance,
  reserves: {
    onChain: units(funding.reserves.onChainBase),
    committed: units(funding.reserves.onChainBase - funding.reserves.liabilitiesMaxBase),
    liabilities: units(funding.reserves.liabilitiesBase),
  },
  createdAt: funding.at.toISOString(),
});

export const toReversal = (reversal: Reversal): ResponseOf<typeof reverseFunding> => ({
  id: reversal.transactionId,
  reverses: reversal.reversesId,
  accountId: reversal.account.id,
  amount: units(reversal.amountBase),
  ...currencyOf(reversal),
  balance: toAccount(reversal).balance,
  createdAt: reversal.at.toISOString(),
});

const toEntry = (entry: Entry, owner?: StatementOwner): EntryBody => ({
  seq: Number(entry.seq),
  transactionId: entry.transactionId,
  kind: kindOf(entry, owner),
  amount: units(entry.amountBase),
  balanceAfter: units(entry.balanceAfterBase),
  reference: typeof entry.data?.["reference"] === "string" ? entry.data["reference"] : null,
  counterpartyId: entry.counterpartyId,
  counterpartyName: entry.counterpartyName,
  payoutId: typeof entry.data?.["payoutId"] === "string" ? entry.data["payoutId"] : null,
  reverses: entry.reversesId,
  reversedBy: entry.reversedById,
  createdAt: entry.createdAt.toISOString(),
});

export const toEntries = ({ data, nextCursor }: Entries): ResponseOf<typeof listEntries> => ({
  data: data.map((entry) => toEntry(entry)),
  nextCursor,
});

const toBookStatement = (statement: BookStatement, entries: readonly Entry[]) => ({
  from: statement.from.toISOString(),
  to: statement.to.toISOString(),
  opening: units(statement.openingBase),
  entries: entries.map((entry) => toEntry(entry, statement.owner)),
  // Sequence numbers have no gaps, so their difference is the number of entries.
  truncated: BigInt(entries.length) < statement.endSeq - statement.firstSeq,
  in: units(statement.inBase),
  out: units(statement.outBase),
  closing: units(statement.closingBase),
});

export const toStatement = (
  statement: AccountStatement,
  entries: readonly Entry[],
): ResponseOf<typeof getStatement> => ({
  account: toAccount(statement),
  ...toBookStatement(statement, entries),
});

export const toReserveStatement = (
  statement: ReserveStatement,
  entries: readonly Entry[],
): ResponseOf<typeof getReserveStatement> => ({
  currency: statement.asset.symbol,
  assetId: statement.assetId,
  decimals: statement.asset.decimals,
  ...toBookStatement(statement, entries),
});

const CSV_HEAD = [
  "time",
  "seq",
  "kind",
  "amount",
  "balance",
  "currency",
  "counterparty",
  "reference",
  "transaction",
];

/** Writes an amount as a raw number, so that a negative amount is not guarded as a formula. */
const cell = (base: bigint): CsvCell => ({ raw: units(base) });

const csvEdge = (
  statement: BookStatement,
  kind: "opening" | "closing",
  { at, base }: { readonly at: Date; readonly base: bigint },
): CsvText => {
  const currency = statement.asset?.symbol ?? statement.assetId;
  return csvLine([at.toISOString(), "", kind, "", cell(base), currency, "", "", ""]);
};

/** The head of the CSV file and the line of the opening balance. */
export const statementCsvHead = (statement: BookStatement): CsvText =>
  joinCsv([
    csvLine(CSV_HEAD),
    csvEdge(statement, "opening", { at: statement.from, base: statement.openingBase }),
  ]);

export const statementCsvEntries = (
  statement: BookStatement,
  entries: readonly Entry[],
): CsvText => {
  const currency = statement.asset?.symbol ?? statement.assetId;
  return joinCsv(
    entries.map((record) => {
      const entry = toEntry(record, statement.owner);
      const amounts = [cell(record.amountBase), cell(record.balanceAfterBase), currency];
      const rest = [entry.counterpartyId, entry.reference, entry.transactionId];
      return csvLine([entry.createdAt, entry.seq, entry.kind, ...amounts, ...rest]);
    }),
  );
};

/** The line of the closing balance. */
export const statementCsvEnd = (statement: BookStatement): CsvText =>
  csvEdge(statement, "closing", { at: statement.to, base: statement.closingBase });

/**
 * A statement as CSV (RFC 4180): the opening balance, a line per entry, and the closing balance.
 */
export const toStatementCsv = async function* (
  statement: BookStatement,
  entries: AsyncIterable<Entry>,
): AsyncGenerator<CsvText> {
  yield statementCsvHead(statement);
  for await (const entry of entries) yield statementCsvEntries(statement, [entry]);
  yield statementCsvEnd(statement);
};
