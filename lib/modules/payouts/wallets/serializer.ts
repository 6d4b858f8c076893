import type { z } from "zod";
import type { walletsPayoutItem, walletsPayoutRecord } from "@/lib/contracts/payout-records";
import { shownChain, shownCoin } from "@/lib/chains/shown-chain";
import { csvLine } from "@/lib/core/csv";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { LEDGER_DECIMALS } from "@/lib/modules/ledger/service";
import { gasWaitSentence } from "@/lib/modules/operations/service";
import type { EvmAddress } from "@/lib/ports/routing";
import { toCommon } from "../common-serializer";
import { mayOf } from "../permissions";
import type { WalletsPayoutView } from "../read-payouts";
import { UNREAD_ACTION } from "../readable";
import { feeUsd } from "./pricing";
import type { BatchGroup, WalletItemRow, WalletRowStatus } from "./read-repository";
import { tokenName } from "./rows";
import { shownToken } from "./shown-token";

type Record = z.output<typeof walletsPayoutRecord>;
type Item = z.output<typeof walletsPayoutItem>;
type Counts = Record["items"];

const SETTLED: readonly WalletRowStatus[] = ["paid", "failed", "cancelled"];

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Counts rows by state. Rows that failed separately are not in the counts of their batches. */
const countsOf = ({ payout, groups }: WalletsPayoutView): Counts => {
  const of = (status: WalletRowStatus): number =>
    sum(groups.filter((group) => group.status === status).map(({ rows }) => rows));
  const setAside = payout.itemsTotal - sum(groups.map(({ rows }) => rows));
  return {
    total: payout.itemsTotal,
    queued: of("queued"),
    sent: of("sent"),
    confirmed: of("confirmed"),
    paid: of("paid"),
    failed: of("failed") + setAside,
    unknown: of("unknown"),
    cancelled: of("cancelled"),
  };
};

export const toTokenRecord = ({ symbol, address, chainId, decimals, assetId }: Token) => ({
  symbol,
  address,
  chainId,
  decimals,
  assetId,
});

const paidOf = (groups: readonly BatchGroup[], token: Token): bigint =>
  groups
    .filter((group) => group.status === "paid" && group.token === tokenName(token))
    .reduce((total, { amountBase }) => total + amountBase, 0n);

/** The number of failed rows that another operation of the account may have paid. */
const rowsInDoubt = ({ groups }: Pick<WalletsPayoutView, "groups">): number =>
  sum(groups.flatMap(({ doubts }) => doubts.map(({ rows }) => rows)));

const doubtsOf = (view: WalletsPayoutView): Record["doubts"] =>
  view.groups.flatMap((group) => {
    const token = shownToken(view, group.token);
    return group.doubts.map(({ batch, rows, amountBase }) => ({
      ...{ batch, rows, token: toTokenRecord(token) },
      amount: formatAmount(amountBase, token.decimals),
    }));
  });

const feeOf = ({ own, groups, registry, coinUsd }: WalletsPayoutView): Record["networkFee"] => {
  const coin = shownCoin(
    registry,
    own.chainId,
    own.totals.map(({ token }) => token),
  );
  const estimated = groups.some(({ status }) => !SETTLED.includes(status));
  const wei = estimated ? own.feeWei : groups.reduce((total, { gasCostWei }) => total + gasCostWei, 0n);
  return {
    token: coin,
    amount: formatAmount(wei, coin.decimals),
    usd: feeUsd(wei, coin, coinUsd ?? undefined),
    paidBy: own.feePaidBy,
    estimated,
  };
};

const rowsText = (count: number): string => (count === 1 ? "1 row" : `${String(count)} rows`);

const accountOf = ({ payout }: WalletsPayoutView): Record["account"] => {
  const { sourceAccountId: accountId, totalBase, paidBase, failedBase, evaluationId } = payout;
  if (accountId === null) return null;
  // The account is debited when the payout is let run.
  const transitBase = evaluationId === null ? 0n : totalBase - paidBase - failedBase;
  const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);
  return {
    ...{ accountId, amount: units(totalBase), paid: units(paidBase) },
    ...{ returned: units(failedBase), inTransit: units(transitBase) },
  };
};

const BRINGS =
  "Nothing to do: the missing part is on its way to the chain (see the operation in fundedBy). Rows are paid once it has arrived.";

/** Names the amount that is not returned to the account, because another operation may have paid it. */
const keptInTransit = (view: WalletsPayoutView): string => {
  const account = accountOf(view);
  if (account === null || account.inTransit === "0") return "";
  return ` ${account.inTransit} stays in transit and is not in the account ${account.accountId} again until it is decided.`;
};

/** Describes a payout that ended with unpaid rows: where the unpaid money is, and which rows may have been paid. */
const unpaidText = (view: WalletsPayoutView, counts: Counts, place: string): string => {
  const inDoubt = rowsInDoubt(view);
  const left = counts.failed + counts.cancelled - inDoubt;
  const doubt =
    inDoubt === 0
      ? ""
      : ` Another operation of the treasury may have paid ${rowsText(inDoubt)}: do not pay them again before an owner or an admin has decided about them.${keptInTransit(view)}`;
  const retry = mayOf(view).retry ? ` Retry pays the ${inDoubt > 0 ? "other " : ""}failed rows alone.` : "";
  const rest = left === 0 ? "" : ` The money of the other ${rowsText(left)} is ${place}.`;
  if (counts.paid > 0) return `${rowsText(counts.paid)} were paid.${rest}${doubt}${retry}`;
  if (inDoubt === 0) return `Nothing was paid; the money is ${place}.${retry}`;
  return `This payout paid nothing itself.${doubt}${rest}${retry}`;
};

/** One sentence about the person's next action and the place of the money. */
const nextActionOf = (view: WalletsPayoutView, counts: Counts): string => {
  const { payout, own, registry } = view;
  if (payout.unread === true) return UNREAD_ACTION;
  const held = `in the treasury ${own.fromAddress} on ${shownChain(registry, own.chainId).name}`;
  const place = payout.sourceAccountId === null ? held : `in the account ${payout.sourceAccountId}`;
  switch (payout.status) {
    case "pending":
      return payout.subStatus === "awaiting_approval"
        ? "Approve it with a one-time code, or cancel it. Nothing was paid."
        : own.fundedBy === null
          ? `Nothing to do: it is about to be paid. The money is held ${held}.`
          : BRINGS;
    case "processing":
      if (payout.subStatus === "bridging") return BRINGS;
      if (own.gasWaits.length > 0 && counts.queued + counts.sent > 0)
        return `${gasWaitSentence(own.gasWaits, view.registry) ?? ""} The money is held ${held}.`;
      return counts.unknown > 0
        ? `Nothing to do: ${rowsText(counts.unknown)} were offered to the chain and are not seen yet. Do not pay them again: each is paid once, or its money stays ${place}.`
        : `Nothing to do: it goes on by itself, also when this page is closed. What is not paid yet is held ${held}.`;
    case "completed":
      return "Nothing to do: every row was paid.";
    case "partially_completed":
    case "failed":
      return unpaidText(view, counts, place);
    case "refunded":
    case "cancelled":
    case "expired":
      return `Nothing was paid; the money is ${place}.`;
  }
};

const fundFromOf = ({ fundFrom }: WalletsPayoutView["own"]): Record["fundFrom"] => {
  if (fundFrom === null) return null;
  return fundFrom === "auto" ? "auto" : "sources";
};

const fundingOf = ({ funding }: WalletsPayoutView["own"]): Record["funding"] => {
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

export const toWalletsPayout = (view: WalletsPayoutView): Record => {
  const { payout, own, groups } = view;
  const counts = countsOf(view);
  return {
    ...toCommon(payout),
    kind: payout.kind,
    chainId: own.chainId,
    fromWalletId: own.fromWalletId,
    fromAddress: own.fromAddress,
    account: accountOf(view),
    totals: own.totals.map(({ token, amountBase, rows }) => ({
      token: toTokenRecord(token),
      amount: formatAmount(amountBase, token.decimals),
      paid: formatAmount(paidOf(groups, token), token.decimals),
      rows,
    })),
    items: counts,
    usd: view.usd,
    batches: {
      total: sum(groups.map(({ batches }) => batches)),
      settled: sum(groups.filter(({ status }) => SETTLED.includes(status)).map(({ batches }) => batches)),
    },
    doubts: doubtsOf(view),
    networkFee: feeOf(view),
    warnings: [...own.warnings],
    fundFrom: fundFromOf(own),
    funding: fundingOf(own),
    fundedBy: own.fundedBy,
    scheduleId: own.scheduleId,
    nextAction: nextActionOf(view, counts),
    may: mayOf(view),
  };
};

/** How many a chain needs that was taken out of the configuration is not known; those of a paid row were enough. */
const depthOf = (row: WalletItemRow, confirmations: number | null): { have: number; need: number } => {
  const isPaid = row.status === "paid";
  const need = confirmations ?? Math.max(1, isPaid ? row.confirmations : row.confirmations + 1);
  return { have: isPaid ? need : Math.min(row.confirmations, need), need };
};

/** Returns a function that serializes rows of the payout. */
export const walletItems = (view: WalletsPayoutView): ((row: WalletItemRow) => Item) => {
  const { payout, own, registry } = view;
  const { confirmations, explorerUrl } = shownChain(registry, own.chainId);
  const tokens = new Map<string, Token>();
  return (row) => {
    const token = tokens.get(row.token) ?? shownToken(view, row.token);
    tokens.set(row.token, token);
    const failure = row.failure ?? (row.status === "failed" ? payout.failure : null);
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
      explorerUrl: row.txHash === null || explorerUrl === undefined ? null : `${explorerUrl}/tx/${row.txHash}`,
      failure: row.status === "failed" ? failure : null,
    };
  };
};

export const WALLETS_CSV_HEAD = csvLine([
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
]);

export const walletsCsvLines = (view: WalletsPayoutView): ((row: WalletItemRow) => string) => {
  const toItem = walletItems(view);
  return (row) => {
    const item = toItem(row);
    return csvLine([
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
      item.failure?.message ?? null,
      item.failure?.code ?? null,
    ]);
  };
};
