/** Converts payouts and their rows to the records of the API. */
import type { z } from "zod";
import { shownChain, shownCoin } from "@/lib/chain/shown-chain";
import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  accountsPayoutItem,
  accountsPayoutRecord,
  walletsPayoutItem,
  walletsPayoutRecord,
} from "@/lib/contracts/payout-records";
import type { getPayout, listPayoutItems, listPayouts } from "@/lib/contracts/payouts";
import { csvLine, joinCsv, type CsvText } from "@/lib/core/csv";
import { formatAmount } from "@/lib/core/money";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import { toOutcomeRecord } from "@/lib/money/operations/service";
import type { EvmAddress } from "@/lib/core/evm";
import { itemStatusOf, type PayoutItemRow } from "./accounts/rows";
import { inTransitBase, outcomeOf, paidIn, rowCountsOf, type RowCounts } from "./outcome";
import type {
  AccountsPayoutView,
  PayoutItems,
  PayoutView,
  WalletsPayoutView,
} from "./payout-view";
import { mayOf } from "./permissions";
import { tokenNamed } from "./wallets/wallet-payout";
import type { BatchGroup, WalletItemRow, WalletRowStatus } from "./wallets/read-repository";
import { usdOf } from "./worth";
import { toTokenRecord } from "@/lib/core/token";

export { toSchedule, toScheduleItems, toSchedules } from "./schedules/serializer";

type AccountsRecord = z.output<typeof accountsPayoutRecord>;
type WalletsRecord = z.output<typeof walletsPayoutRecord>;

type RecordOf<View extends PayoutView> = View extends WalletsPayoutView
  ? WalletsRecord
  : AccountsRecord;

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

const SETTLED: readonly WalletRowStatus[] = ["paid", "failed", "cancelled"];

const isSettled = ({ status }: BatchGroup): boolean => SETTLED.includes(status);

const batchesIn = (groups: readonly BatchGroup[]): number =>
  groups.reduce((total, { batches }) => total + batches, 0);

const doubtsOf = (view: WalletsPayoutView): WalletsRecord["doubts"] =>
  view.groups.flatMap((group) => {
    const token = tokenNamed(view.own.totals, group.token);
    return group.doubts.map(({ batch, rows, amountBase }) => ({
      batch,
      rows,
      token: toTokenRecord(token),
      amount: formatAmount(amountBase, token.decimals),
    }));
  });

const networkFeeOf = (view: WalletsPayoutView): WalletsRecord["networkFee"] => {
  const { own, groups, chains, coinUsd } = view;
  const tokens = own.totals.map(({ token }) => token);
  const coin = shownCoin(chains, own.chainId, tokens);
  const estimated = !groups.every(isSettled);
  const wei = estimated
    ? own.feeWei
    : groups.reduce((total, { gasCostWei }) => total + gasCostWei, 0n);
  return {
    token: coin,
    amount: formatAmount(wei, coin.decimals),
    usd: usdOf({ amountBase: wei, decimals: coin.decimals }, coinUsd),
    paidBy: own.feePaidBy,
    estimated,
  };
};

const withdrawalOf = (view: WalletsPayoutView): WalletsRecord["account"] => {
  const { sourceAccountId: accountId, totalBase, paidBase, failedBase } = view.payout;
  if (accountId === null) return null;
  return {
    accountId,
    amount: units(totalBase),
    paid: units(paidBase),
    returned: units(failedBase),
    inTransit: units(inTransitBase(view)),
  };
};

const fundFromOf = ({ fundFrom }: WalletsPayoutView["own"]): WalletsRecord["fundFrom"] => {
  if (fundFrom === null) return null;
  return fundFrom === "auto" ? "auto" : "sources";
};

const fundingOf = ({ funding }: WalletsPayoutView["own"]): WalletsRecord["funding"] => {
  if (funding === null) return null;
  const { token, missingBase, minimumBase, sources, fees, estimatedSeconds } = funding;
  return {
    token: toTokenRecord(token),
    missing: formatAmount(missingBase, token.decimals),
    minimum: formatAmount(minimumBase, token.decimals),
    sources: sources.map(({ walletId, token: sent, amountBase }) => ({
      walletId,
      chainId: sent.chainId,
      token: toTokenRecord(sent),
      amount: formatAmount(amountBase, sent.decimals),
    })),
    fees,
    estimatedSeconds,
  };
};

const toCommon = (view: PayoutView) => {
  const { payout } = view;
  const outcome = toOutcomeRecord(outcomeOf(view));
  return {
    id: payout.id,
    payoutId: payout.id,
    mode: payout.mode,
    status: payout.status,
    subStatus: payout.subStatus,
    reference: payout.reference,
    failure: payout.failure,
    retryOf: payout.retryOf,
    evaluationId: payout.evaluationId,
    usd: view.usd,
    outcome,
    nextAction: outcome.nextAction,
    may: mayOf(view),
    createdBy: payout.createdBy,
    createdAt: payout.createdAt.toISOString(),
    updatedAt: payout.updatedAt.toISOString(),
    expiresAt: payout.expiresAt?.toISOString() ?? null,
  };
};

const toAccountsRecord = (view: AccountsPayoutView, counts: RowCounts): AccountsRecord => {
  const { payout, asset } = view;
  return {
    ...toCommon(view),
    kind: payout.kind,
    sourceAccountId: payout.sourceAccountId,
    currency: asset?.symbol ?? payout.currency,
    assetId: payout.currency,
    decimals: asset?.decimals ?? LEDGER_DECIMALS,
    total: units(payout.totalBase),
    paid: units(payout.paidBase),
    items: {
      total: counts.total,
      pending: counts.queued,
      completed: counts.paid,
      failed: counts.failed,
    },
  };
};

const toWalletsRecord = (
  view: WalletsPayoutView,
  { doubt, failed, ...counts }: RowCounts,
): WalletsRecord => {
  const { payout, own, groups } = view;
  return {
    ...toCommon(view),
    kind: payout.kind,
    chainId: own.chainId,
    fromWalletId: own.fromWalletId,
    fromAddress: own.fromAddress,
    account: withdrawalOf(view),
    totals: own.totals.map(({ token, amountBase, rows }) => ({
      token: toTokenRecord(token),
      amount: formatAmount(amountBase, token.decimals),
      paid: formatAmount(paidIn(groups, token), token.decimals),
      rows,
    })),
    items: { ...counts, failed: failed + doubt },
    batches: { total: batchesIn(groups), settled: batchesIn(groups.filter(isSettled)) },
    doubts: doubtsOf(view),
    networkFee: networkFeeOf(view),
    warnings: [...own.warnings],
    fundFrom: fundFromOf(own),
    funding: fundingOf(own),
    fundedBy: own.fundedBy,
    scheduleId: own.scheduleId,
  };
};

export const toPayout = (view: PayoutView): ResponseOf<typeof getPayout> =>
  view.kind === "wallets"
    ? toWalletsRecord(view, rowCountsOf(view))
    : toAccountsRecord(view, rowCountsOf(view));

/** Converts a new payout. The id is null when the payout was only validated. */
export const toNewPayout = <View extends PayoutView>(view: View) => {
  const id = view.payout.id === "" ? null : view.payout.id;
  return { ...(toPayout(view) as RecordOf<View>), id, payoutId: id };
};

export const toPayouts = (page: {
  data: readonly PayoutView[];
  nextCursor: string | null;
}): ResponseOf<typeof listPayouts> => ({
  data: page.data.map(toPayout),
  nextCursor: page.nextCursor,
});

type AccountsItem = z.output<typeof accountsPayoutItem>;
type WalletsItem = z.output<typeof walletsPayoutItem>;

const toAccountsItem = (
  { payout, asset }: AccountsPayoutView,
  item: PayoutItemRow,
): AccountsItem => {
  const status = itemStatusOf(payout, item);
  return {
    kind: payout.kind,
    index: item.index,
    recipientAccountId: item.recipientAccountId,
    amount: units(item.amountBase),
    currency: asset?.symbol ?? payout.currency,
    reference: item.reference,
    status,
    transactionId: item.transactionId,
    failure: item.failure ?? (status === "failed" ? payout.failure : null),
  };
};

/**
 * Returns how many confirmations a row's transaction has and needs. The needed number is unknown
 * for a chain that was removed from the configuration. A paid row on such a chain has enough
 * confirmations, and any other row needs at least one more.
 */
const depthOf = (
  row: WalletItemRow,
  confirmations: number | null,
): { have: number; need: number } => {
  const isPaid = row.status === "paid";
  const need = confirmations ?? Math.max(1, isPaid ? row.confirmations : row.confirmations + 1);
  return { have: isPaid ? need : Math.min(row.confirmations, need), need };
};

const toWalletsItem = (view: WalletsPayoutView, row: WalletItemRow): WalletsItem => {
  const { payout, own, chains } = view;
  const { confirmations, explorerUrl } = shownChain(chains, own.chainId);
  const token = tokenNamed(own.totals, row.token);
  const isMined = row.txHash !== null && (row.status === "confirmed" || row.status === "paid");
  return {
    kind: payout.kind,
    index: row.index,
    address: row.recipient as EvmAddress,
    amount: formatAmount(row.amountBase, token.decimals),
    amountBase: row.amountBase.toString(),
    token: toTokenRecord(token),
    reference: row.reference,
    note: row.note,
    status: row.status,
    batch: row.batch,
    txHash: row.txHash,
    blockNumber: row.blockNumber,
    confirmations: isMined ? depthOf(row, confirmations) : null,
    explorerUrl:
      row.txHash === null || explorerUrl === undefined
        ? null
        : `${explorerUrl}/tx/${row.txHash}`,
    failure: row.status === "failed" ? (row.failure ?? payout.failure) : null,
  };
};

type Item = ResponseOf<typeof listPayoutItems>["data"][number];

const itemsOf = (found: PayoutItems): Item[] =>
  found.kind === "wallets"
    ? found.rows.map((row) => toWalletsItem(found.view, row))
    : found.rows.map((row) => toAccountsItem(found.view, row));

export const toItems = (
  found: PayoutItems & { nextCursor: string | null },
): ResponseOf<typeof listPayoutItems> => ({
  data: itemsOf(found),
  nextCursor: found.nextCursor,
});

const CSV_HEADS = {
  global_accounts: csvLine([
    "index",
    "recipientAccountId",
    "amount",
    "currency",
    "reference",
    "status",
    "transaction",
    "failure",
    "failureCode",
  ]),
  wallets: csvLine([
    "index",
    "address",
    "amount",
    "token",
    "tokenAddress",
    "reference",
    "note",
    "status",
    "batch",
    "transaction",
    "block",
    "failure",
    "failureCode",
  ]),
} as const;

/** Writes a row as CSV, with its cells in the order of `CSV_HEADS`. */
const csvOf = (item: Item): CsvText => {
  const failure = [item.failure?.message ?? null, item.failure?.code ?? null];
  return item.kind === "wallets"
    ? csvLine([
        item.index,
        item.address,
        { raw: item.amount },
        item.token.symbol,
        item.token.address,
        item.reference,
        item.note,
        item.status,
        item.batch,
        item.txHash,
        item.blockNumber,
        ...failure,
      ])
    : csvLine([
        item.index,
        item.recipientAccountId,
        { raw: item.amount },
        item.currency,
        item.reference,
        item.status,
        item.transactionId,
        ...failure,
      ]);
};

/** Yields a payout's rows as CSV (RFC 4180): a line of column names, then one line for each row. */
export const itemsCsv = async function* (
  view: PayoutView,
  pages: AsyncIterable<PayoutItems>,
): AsyncGenerator<CsvText> {
  yield CSV_HEADS[view.kind];
  for await (const page of pages) yield joinCsv(itemsOf(page).map(csvOf));
};
