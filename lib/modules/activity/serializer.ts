import type { z } from "zod";
import type { activityRecord } from "@/lib/contracts/activity";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Asset } from "@/lib/chains/assets";
import { LEDGER_DECIMALS } from "@/lib/modules/ledger/service";
import type { Operation } from "@/lib/modules/operations/service";
import type { PayoutMovement } from "@/lib/modules/payouts/service";
import { csvHeader, csvLines } from "./csv";
import type { ActivityEntry, Movement } from "./movement";

type ActivityRecord = z.output<typeof activityRecord>;
type Amount = ActivityRecord["sent"][number];
type Party = ActivityRecord["counterparty"];

/** The part of a record that depends on what moved. */
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

const partyOfOperation = (operation: Operation, { deposit, transfer }: ActivityEntry): Party => {
  if (deposit !== null) {
    const { sender } = deposit.deposit;
    return sender === null ? null : { type: "address", address: sender };
  }
  const ownWallet = transfer?.kind === "shield" ? transfer.walletId : (transfer?.toWalletId ?? null);
  if (ownWallet !== null) return { type: "private_wallet", privacyWalletId: ownWallet };
  return { type: "address", address: operation.request.destination.recipient };
};

const ofOperation = (operation: Operation, entry: ActivityEntry): Own => {
  const { request, legs, quoted, minimumBase } = operation;
  const { token } = request.destination;
  const arrived = legs.reduce((sum, leg) => sum + (leg.receivedBase ?? 0n), quoted.receivedBase ?? 0n);
  return {
    kind: operation.kind as Own["kind"],
    status: operation.status,
    subStatus: operation.subStatus,
    sent: request.sources.map((source) => tokenAmount(source.token, source.amountBase)),
    received: tokenAmount(token, entry.deposit === null ? arrived : entry.deposit.deposit.amountBase),
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
    received: only === undefined || others.length > 0 ? null : tokenAmount(only.token, only.paidBase),
    source: payout.sourceAccountId === null ? null : accountParty(payout.sourceAccountId, accountNames),
    counterparty,
  };
};

const ofFunding = ({ funding, asset }: Extract<Movement, { type: "funding" }>): Own => {
  const amount = assetAmount(asset, funding.currency, funding.amountBase);
  const account = { type: "account" as const, accountId: funding.accountId, name: funding.accountName };
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

const madeOf = (movement: Movement): { readonly createdBy: string; readonly createdAt: Date } => {
  if (movement.type === "operation") return movement.operation;
  return movement.type === "payout" ? movement.payout.payout : movement.funding;
};

/** The movement as the caller sees it. */
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

/** The lines of a CSV file (RFC 4180), made while the list is read. */
export const activityCsv = async function* (entries: AsyncIterable<ActivityEntry>): AsyncGenerator<string> {
  yield csvHeader();
  for await (const entry of entries) yield csvLines(toActivity(entry));
};
