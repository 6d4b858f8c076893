import type { TokenInfo } from "@/components/features/swap/tokens";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createWalletsPayout } from "@/lib/contracts/payouts";
import { parseAmount } from "@/lib/core/money";
import { isSameText } from "@/lib/core/same-text";
import { COLUMNS, FIELDS } from "../import/column-names";
import { addressProblem } from "@/components/features/file-import/address-cell";
import { namesChain } from "@/components/features/file-import/chain-names";
import { type PaidIn, rowAmountProblem } from "./amount-rules";
import {
  type DraftRow,
  type DraftValues,
  filledText,
  foundProblems,
  type RowMoney,
  type RowProblems,
  type RowRules,
  rowRules,
  textProblem,
} from "./draft-row";

export type WalletsBody = BodyInput<typeof createWalletsPayout>;

const REFERENCE_MAX = 140;
const NOTE_MAX = 500;

export interface WalletTarget {
  readonly chainId: number;
  readonly chainName: string;
  readonly tokens: readonly TokenInfo[];
  readonly treasury: string;
  /** Address or `native` for rows that name no token; empty while no token is chosen. */
  readonly defaultToken: string;
}

/**
 * Finds a token by its symbol, address or CAIP-19 id, or by `native`. An empty text means the
 * default token. Returns undefined for an unknown text and for a symbol that two tokens share.
 */
export const findToken = (
  text: string,
  { tokens, defaultToken }: WalletTarget,
): TokenInfo | undefined => {
  const wanted = text.trim() === "" ? defaultToken : text.trim();
  const exact = tokens.find(
    (token) => isSameText(token.address, wanted) || isSameText(token.caip19, wanted),
  );
  if (exact !== undefined) return exact;
  const named = tokens.filter((token) => isSameText(token.symbol, wanted));
  return named.length === 1 ? named[0] : undefined;
};

const tokenProblem = (text: string, target: WalletTarget): string | null => {
  if (findToken(text, target) !== undefined) return null;
  return text.trim() === ""
    ? "Choose a token."
    : `${target.chainName} has no token "${text.trim().slice(0, 20)}".`;
};

const recipientProblem = (
  text: string,
  token: TokenInfo | undefined,
  target: WalletTarget,
): string | null => {
  const problem = addressProblem(text);
  if (problem !== null) return problem;
  if (isSameText(text, target.treasury)) return "This is the treasury, which pays.";
  if (token !== undefined && isSameText(text, token.address))
    return `This is the contract of ${token.symbol}; money sent there is lost.`;
  return target.tokens.some((each) => isSameText(each.address, text))
    ? "This is the contract of a token, not a wallet."
    : null;
};

/**
 * The row's token. It is undefined when the file's cell was refused, because a refused token must
 * not be replaced by the default.
 */
const tokenOf = (row: DraftValues, target: WalletTarget): TokenInfo | undefined =>
  row.refusals.token === undefined ? findToken(row.token, target) : undefined;

/**
 * The problem of a row that the file assigns to another chain, because it must not be paid on this
 * chain; null when there is none.
 */
const chainProblem = (
  row: DraftValues,
  { chainId, chainName }: WalletTarget,
): string | null => {
  const other = row.chains.find((text) => !namesChain(text, { id: chainId, name: chainName }));
  return other === undefined
    ? null
    : `The file says "${other.slice(0, 40)}" for the chain of this row, but this payout pays on ${chainName}. Remove the row, or choose its chain above.`;
};

const problemsOf = (row: DraftValues, target: WalletTarget): RowProblems => {
  const token = tokenOf(row, target);
  return foundProblems({
    row: chainProblem(row, target),
    recipient: row.refusals.recipient ?? recipientProblem(row.recipient.trim(), token, target),
    amount: rowAmountProblem(row, token === undefined ? null : paidIn(token)),
    token: row.refusals.token ?? tokenProblem(row.token, target),
    reference: textProblem(row.reference.trim(), REFERENCE_MAX),
    note: textProblem(row.note.trim(), NOTE_MAX),
  });
};

const paidIn = ({ symbol, decimals, usdPegged }: TokenInfo): PaidIn => ({
  symbol,
  decimals,
  isDollar: usdPegged,
});

const payOf = (row: DraftValues, target: WalletTarget): RowMoney | null => {
  const token = tokenOf(row, target);
  if (token === undefined) return null;
  const { address: id, symbol, decimals } = token;
  return { id, symbol, decimals, base: parseAmount(row.amount.trim(), decimals) };
};

/**
 * The checks that the page makes of rows that pay addresses on one chain. The service checks
 * everything again.
 */
export const walletRules = (target: WalletTarget): RowRules =>
  rowRules({
    fields: FIELDS,
    columns: COLUMNS,
    problemsOf: (row) => problemsOf(row, target),
    payOf: (row) => payOf(row, target),
  });

/**
 * The rows of `POST /payouts/bulk/wallets`. Tokens are sent by address, because several tokens can
 * have the same symbol.
 */
export const walletTransfers = (
  rows: readonly DraftRow[],
  target: WalletTarget,
): WalletsBody["transfers"] =>
  rows.map((row) => ({
    address: row.recipient.trim(),
    amount: row.amount.trim(),
    token: tokenOf(row, target)?.address ?? row.token.trim(),
    reference: filledText(row.reference),
    note: filledText(row.note),
  }));
