import type { z } from "zod";
import type { activityRecord, summarizeActivity } from "@/lib/contracts/activity";
import { type CsvCell, csvLine, type CsvText, joinCsv } from "@/lib/core/csv";
import { movedPayoutTitle } from "@/lib/core/titles";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Asset } from "@/lib/chain/assets";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import type { Operation } from "@/lib/money/operations/service";
import type { PayoutMovement } from "@/lib/money/payouts/service";
import type { ActivityEntry, Movement } from "./movements";
import type { ActivitySearch, Summary } from "./summary";

type ActivityRecord = z.output<typeof activityRecord>;
type Amount = ActivityRecord["sent"][number];
type Party = ActivityRecord["counterparty"];

interface Row {
  readonly record: ActivityRecord;
  readonly sent: Amount | null;
  /**
   * Whether this is the movement's first line. Columns about the whole movement are filled only
   * there, so that the sum of a column is correct.
   */
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

const isPayout = ({ kind }: ActivityRecord): boolean =>
  kind === "payout_to_wallets" || kind === "payout_to_accounts";

/** Only payouts have a title; other movements are identified by their amounts and parties. */
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
  [
    "counterparty_name",
    once(({ counterparty }) => (counterparty?.type === "account" ? counterparty.name : null)),
  ],
  ["title", once(titleOf)],
  ["memo", once(({ memo }) => memo)],
  ["tags", once(({ tags }) => tags.join(", "))],
];

const csvHeader = (): CsvText => csvLine(COLUMNS.map(([name]) => name));

/** Writes one line for each sent amount. */
const csvLines = (record: ActivityRecord): CsvText => {
  const amounts: readonly (Amount | null)[] = record.sent.length > 0 ? record.sent : [null];
  return joinCsv(
    amounts.map((sent, index) =>
      csvLine(COLUMNS.map(([, cell]) => cell({ record, sent, isFirst: index === 0 }))),
    ),
  );
};

/** The part of a record that depends on the kind of movement. */
type Own = Pick<
  ActivityRecord,
  "kind" | "status" | "subStatus" | "sent" | "received" | "minimum" | "source" | "counterparty"
>;

const tokenAmount = ({ symbol, assetId, decimals, chainId }: Token, base: bigint): Amount => ({
  amount: formatAmount(base, decimals),
  token: { symbol, assetId, decimals, chainId },
});

const assetAmount = (asset: Asset | null, assetId: string, base: bigint): Amount => ({
  amount: formatAmount(base, LEDGER_DECIMALS),
  token: {
    symbol: asset?.symbol ?? assetId,
    assetId,
    decimals: asset?.decimals ?? LEDGER_DECIMALS,
    chainId: null,
  },
});

const partyOfOperation = (
  operation: Operation,
  { deposit, transfer }: ActivityEntry,
): Party => {
  if (deposit !== null) {
    const { sender } = deposit.deposit;
    return sender === null ? null : { type: "address", address: sender };
  }
  const ownWallet =
    transfer?.kind === "shield" ? transfer.walletId : (transfer?.toWalletId ?? null);
  if (ownWallet !== null) return { type: "private_wallet", privacyWalletId: ownWallet };
  return { type: "address", address: operation.request.destination.recipient };
};

const ofOperation = (operation: Operation, entry: ActivityEntry): Own => {
  const { request, legs, quoted, minimumBase } = operation;
  const { token } = request.destination;
  const arrived = legs.reduce(
    (sum, leg) => sum + (leg.receivedBase ?? 0n),
    quoted.receivedBase ?? 0n,
  );
  return {
    kind: operation.kind as Own["kind"],
    status: operation.status,
    subStatus: operation.subStatus,
    sent: request.sources.map((source) => tokenAmount(source.token, source.amountBase)),
    received: tokenAmount(
      token,
      entry.deposit === null ? arrived : entry.deposit.deposit.amountBase,
    ),
    minimum: tokenAmount(token, minimumBase),
    source: null,
    counterparty: partyOfOperation(operation, entry),
  };
};

const accountParty = (accountId: string, names: ReadonlyMap<string, string>) => ({
  type: "account" as const,
  accountId,
  name: names.get(accountId) ?? null,
});

const ofPayout = (movement: PayoutMovement, { accountNames }: ActivityEntry): Own => {
  const { payout, recipient } = movement;
  const common = { status: payout.status, subStatus: payout.subStatus, minimum: null };
  const counterparty: Party =
    recipient === null
      ? { type: "recipients", count: payout.itemsTotal }
      : recipient.type === "account"
        ? accountParty(recipient.accountId, accountNames)
        : { type: "address", address: recipient.address };
  if (movement.kind === "global_accounts") {
    const { currency, totalBase, paidBase, sourceAccountId } = movement.payout;
    const sent = [assetAmount(movement.asset, currency, totalBase)];
    const received = assetAmount(movement.asset, currency, paidBase);
    const source = accountParty(sourceAccountId, accountNames);
    return { ...common, kind: "payout_to_accounts", sent, received, source, counterparty };
  }
  const [only, ...others] = movement.totals;
  return {
    ...common,
    kind: "payout_to_wallets",
    sent: movement.totals.map(({ token, amountBase }) => tokenAmount(token, amountBase)),
    received:
      only === undefined || others.length > 0 ? null : tokenAmount(only.token, only.paidBase),
    source:
      payout.sourceAccountId === null
        ? null
        : accountParty(payout.sourceAccountId, accountNames),
    counterparty,
  };
};

const ofFunding = ({ funding, asset }: Extract<Movement, { type: "funding" }>): Own => {
  const amount = assetAmount(asset, funding.currency, funding.amountBase);
  const account = {
    type: "account" as const,
    accountId: funding.accountId,
    name: funding.accountName,
  };
  const isReversal = funding.kind === "reverse";
  return {
    kind: isReversal ? "funding_reversal" : "funding",
    status: "completed",
    subStatus: "full",
    sent: [amount],
    received: amount,
    minimum: null,
    source: isReversal ? account : null,
    counterparty: isReversal ? null : account,
  };
};

const ownOf = (entry: ActivityEntry): Own => {
  const { movement } = entry;
  if (movement.type === "operation") return ofOperation(movement.operation, entry);
  return movement.type === "payout" ? ofPayout(movement.payout, entry) : ofFunding(movement);
};

const madeOf = (
  movement: Movement,
): { readonly createdBy: string; readonly createdAt: Date } => {
  if (movement.type === "operation") return movement.operation;
  return movement.type === "payout" ? movement.payout.payout : movement.funding;
};

export const toActivity = (entry: ActivityEntry): ActivityRecord => {
  const { movement, transfer, annotation, usd } = entry;
  const { createdBy, createdAt } = madeOf(movement);
  return {
    id: movement.id,
    ...ownOf(entry),
    reference: movement.type === "payout" ? movement.payout.payout.reference : null,
    transferId: transfer?.id ?? null,
    usd,
    memo: annotation?.memo ?? "",
    tags: [...(annotation?.tags ?? [])],
    createdBy,
    createdAt: createdAt.toISOString(),
  };
};

/** The lines of a CSV file (RFC 4180), generated while the list is read. */
export const activityCsv = async function* (
  entries: AsyncIterable<ActivityEntry>,
): AsyncGenerator<CsvText> {
  yield csvHeader();
  for await (const entry of entries) yield csvLines(toActivity(entry));
};

const queryOf = (search: ActivitySearch): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search as Readonly<Record<string, string | readonly unknown[] | undefined>>)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );

/**
 * The sums of a group's movements in one direction. `usd` is null when money moved and none of it
 * has a price. `amount` is set only in groups by token, because amounts of different tokens cannot
 * be added.
 * @param moved number of amounts that moved in this direction
 */
const sumOf = (
  by: Summary["by"],
  moved: number,
  { usd, amount }: { readonly usd: string | null; readonly amount: string | null },
) => ({
  usd: moved === 0 ? "0" : usd,
  amount: by === "token" ? (amount ?? "0") : null,
});

export const toSummary = ({
  by,
  from,
  to,
  entries,
  cut,
}: Summary): z.output<typeof summarizeActivity.response> => ({
  by,
  from,
  to,
  data: entries.map(({ group, key, label, search }) => ({
    key,
    label,
    count: group.count,
    in: sumOf(by, group.inCount, { usd: group.inUsd, amount: group.inAmount }),
    out: sumOf(by, group.outCount, { usd: group.outUsd, amount: group.outAmount }),
    unpriced: group.unpriced,
    filter: search === null ? null : queryOf(search),
  })),
  cut,
});
