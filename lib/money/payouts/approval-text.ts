/** The texts that people read before they approve a payout, and the digest that they approve. */
import { createHash } from "node:crypto";
import { shownChain, type ChainFacts } from "@/lib/chain/shown-chain";
import { formatAmount } from "@/lib/core/money";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import type { PayoutParts, WalletsPayoutParts } from "./payout-view";
import { tokenNamed } from "./wallets/wallet-payout";

/**
 * The maximum number of rows that an approval text lists. For the remaining rows, the text gives
 * only their number.
 */
export const ROWS_SHOWN = 5;

export interface ShownRow {
  /** An address, or the id of a ledger account. */
  readonly recipient: string;
  readonly amountBase: bigint;
  /** The token's lower-case address, or `native`; null in payouts between accounts. */
  readonly token: string | null;
}

const counted = (count: number, noun: string): string =>
  `${String(count)} ${noun}${count === 1 ? "" : "s"}`;

const amountText = (parts: PayoutParts, { amountBase, token: name }: ShownRow): string => {
  if (parts.kind === "global_accounts")
    return `${formatAmount(amountBase, LEDGER_DECIMALS)} ${parts.asset?.symbol ?? parts.payout.currency}`;
  const token = tokenNamed(parts.own.totals, name ?? "");
  return `${formatAmount(amountBase, token.decimals)} ${token.symbol}`;
};

const fundingLines = (
  { own: { funding } }: WalletsPayoutParts,
  chains: ChainFacts,
): string[] => {
  if (funding === null) return [];
  const { token, minimumBase, sources } = funding;
  const arrives = `${formatAmount(minimumBase, token.decimals)} ${token.symbol}`;
  return [
    ...sources.map(
      ({ token: sent, amountBase }) =>
        `First you bring: ${formatAmount(amountBase, sent.decimals)} ${sent.symbol} from ${shownChain(chains, sent.chainId).name}`,
    ),
    `At least ${arrives} of it arrive in the treasury on ${shownChain(chains, token.chainId).name}`,
  ];
};

const totalLines = (parts: PayoutParts, chains: ChainFacts): string[] => {
  const { payout } = parts;
  const payments = `in ${String(payout.itemsTotal)} payments`;
  if (parts.kind === "global_accounts") {
    const total = { recipient: "", amountBase: payout.totalBase, token: null };
    return [
      `You pay: ${amountText(parts, total)} ${payments} from ${parts.payout.sourceAccountId}`,
    ];
  }
  const { own } = parts;
  return [
    ...fundingLines(parts, chains),
    ...(payout.sourceAccountId === null
      ? []
      : [`You withdraw from the account ${payout.sourceAccountId}`]),
    `You pay on ${shownChain(chains, own.chainId).name} from ${own.fromAddress}, ${payments}:`,
    ...own.totals.map(
      ({ token, amountBase, rows }) =>
        `${formatAmount(amountBase, token.decimals)} ${token.symbol} in ${String(rows)} of them`,
    ),
  ];
};

/**
 * The lines that describe a payout in the message with the one-time code and in the request for
 * votes.
 * @param first the first rows of the payout, at most `ROWS_SHOWN`
 */
export const approvalLines = (
  parts: PayoutParts,
  chains: ChainFacts,
  first: readonly ShownRow[],
): string[] => {
  const rest = parts.payout.itemsTotal - first.length;
  return [
    ...totalLines(parts, chains),
    ...first.map((row) => `${amountText(parts, row)} to ${row.recipient}`),
    ...(rest > 0 ? [`and ${String(rest)} more`] : []),
  ];
};

export const approvalTitle = (parts: PayoutParts, chains: ChainFacts): string => {
  const { itemsTotal } = parts.payout;
  return parts.kind === "global_accounts"
    ? `Payout to ${counted(itemsTotal, "account")}`
    : `Payout to ${counted(itemsTotal, "wallet")} on ${shownChain(chains, parts.own.chainId).name}`;
};

/**
 * SHA-256 of everything that a code or votes approve: the payout, and the operation that brings
 * missing money to the payout's chain.
 */
export const approvedDigest = (parts: PayoutParts): Uint8Array<ArrayBuffer> => {
  const { digest } = parts.payout;
  if (parts.kind === "global_accounts" || parts.own.funding === null) return digest;
  const { quoteId, sources, minimumBase } = parts.own.funding;
  const brought = sources.map(({ walletId, token, amountBase }) => [
    walletId,
    token.chainId,
    token.address,
    amountBase.toString(),
  ]);
  const text = JSON.stringify([quoteId, brought, minimumBase.toString()]);
  return new Uint8Array(createHash("sha256").update(digest).update(text).digest());
};
