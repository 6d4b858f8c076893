import type { z } from "zod";
import type { activityRecord } from "@/lib/contracts/activity";
import { csvLine, type CsvCell } from "@/lib/core/csv";
import { movedPayoutTitle } from "@/lib/core/payout-title";

type ActivityRecord = z.output<typeof activityRecord>;
type Amount = ActivityRecord["sent"][number];
type Party = ActivityRecord["counterparty"];

interface Row {
  readonly record: ActivityRecord;
  readonly sent: Amount | null;
  /** Columns of the whole movement are filled on its first line alone, so that sums of a column are right. */
  readonly isFirst: boolean;
}

type Column = readonly [name: string, cell: (row: Row) => CsvCell];

const idOf = (party: Party): string | null => {
  if (party === null) return null;
  switch (party.type) {
    case "address":
      return party.address;
    case "account":
      return party.accountId;
    case "private_wallet":
      return party.privacyWalletId;
    case "recipients":
      return `${String(party.count)} recipients`;
  }
};

const isPayout = ({ kind }: ActivityRecord): boolean => kind === "payout_to_wallets" || kind === "payout_to_accounts";

/** Of a payout; other kinds are told apart by their amounts and parties. */
const titleOf = (record: ActivityRecord): string | null =>
  isPayout(record) ? movedPayoutTitle(record, { locale: "en" }) : null;

const once =
  (cell: (record: ActivityRecord) => CsvCell) =>
  ({ record, isFirst }: Row): CsvCell =>
    isFirst ? cell(record) : null;

const COLUMNS: readonly Column[] = [
  ["id", ({ record }) => record.id],
  ["kind", ({ record }) => record.kind],
  ["status", ({ record }) => record.status],
  ["sub_status", ({ record }) => record.subStatus],
  ["created_at", ({ record }) => record.createdAt],
  ["created_by", ({ record }) => record.createdBy],
  ["sent", ({ sent }) => sent?.amount ?? null],
  ["sent_token", ({ sent }) => sent?.token.symbol ?? null],
  ["sent_chain_id", ({ sent }) => sent?.token.chainId ?? null],
  ["received", once(({ received }) => received?.amount ?? null)],
  ["received_token", once(({ received }) => received?.token.symbol ?? null)],
  ["received_chain_id", once(({ received }) => received?.token.chainId ?? null)],
  ["usd", once(({ usd }) => usd)],
  ["from_account", once(({ source }) => source?.accountId ?? null)],
  ["from_account_name", once(({ source }) => source?.name ?? null)],
  ["counterparty", once(({ counterparty }) => idOf(counterparty))],
  ["counterparty_name", once(({ counterparty }) => (counterparty?.type === "account" ? counterparty.name : null))],
  ["title", once(titleOf)],
  ["memo", once(({ memo }) => memo)],
  ["tags", once(({ tags }) => tags.join(", "))],
];

export const csvHeader = (): string => csvLine(COLUMNS.map(([name]) => name));

/** A line for each amount that was sent. */
export const csvLines = (record: ActivityRecord): string => {
  const amounts: readonly (Amount | null)[] = record.sent.length > 0 ? record.sent : [null];
  return amounts
    .map((sent, index) => csvLine(COLUMNS.map(([, cell]) => cell({ record, sent, isFirst: index === 0 }))))
    .join("");
};
