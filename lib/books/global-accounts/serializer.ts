import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  createGlobalAccount,
  fundGlobalAccount,
  getStatement,
  listEntries,
  listGlobalAccounts,
  reverseFunding,
} from "@/lib/contracts/global-accounts";
import { csvLine, type CsvText } from "@/lib/core/csv";
import { formatAmount } from "@/lib/core/money";
import {
  LEDGER_DECIMALS,
  type AccountStatement,
  type Funding,
  type GlobalAccount,
  type GlobalAccountsService,
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

const KINDS: Readonly<Record<Entry["kind"], string>> = {
  open: "opening",
  transfer: "payout",
  batch: "payout",
  fund: "funding",
  reverse: "reversal",
  withdraw: "withdrawal",
  settle: "withdrawal_return",
};

const toEntry = (entry: Entry): EntryBody => ({
  seq: Number(entry.seq),
  transactionId: entry.transactionId,
  kind: KINDS[entry.kind],
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
  data: data.map(toEntry),
  nextCursor,
});

export const toStatement = (
  statement: AccountStatement,
  entries: readonly Entry[],
): ResponseOf<typeof getStatement> => ({
  account: toAccount(statement),
  from: statement.from.toISOString(),
  to: statement.to.toISOString(),
  opening: units(statement.openingBase),
  entries: entries.map(toEntry),
  // Sequence numbers have no gaps, so their difference is the number of entries.
  truncated: BigInt(entries.length) < statement.endSeq - statement.firstSeq,
  in: units(statement.inBase),
  out: units(statement.outBase),
  closing: units(statement.closingBase),
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

/**
 * A statement as CSV (RFC 4180): the opening balance, a line per entry, and the closing balance.
 */
export const toStatementCsv = async function* (
  statement: AccountStatement,
  entries: AsyncIterable<Entry>,
): AsyncGenerator<CsvText> {
  const { currency } = currencyOf(statement);
  const edge = (at: Date, kind: string, base: bigint): CsvText =>
    csvLine([at.toISOString(), "", kind, "", units(base), currency, "", "", ""]);
  yield csvLine(CSV_HEAD);
  yield edge(statement.from, "opening", statement.openingBase);
  for await (const record of entries) {
    const entry = toEntry(record);
    // `raw`, because a negative amount is not a formula.
    const amounts = [{ raw: entry.amount }, entry.balanceAfter, currency];
    const rest = [entry.counterpartyId, entry.reference, entry.transactionId];
    yield csvLine([entry.createdAt, entry.seq, entry.kind, ...amounts, ...rest]);
  }
  yield edge(statement.to, "closing", statement.closingBase);
};
