import { amountProblem } from "@/components/features/global-accounts/fund-model";
import type { TokenInfo } from "@/components/features/swap/types";
import { address as addressSchema } from "@/lib/contracts/common";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createWalletsPayout } from "@/lib/contracts/payouts";
import { parseAmount } from "@/lib/core/money";
import { remembered, textProblem, type DraftRow, type DraftValues, type RowProblems, type RowRules } from "./draft-row";

export type WalletsBody = BodyInput<typeof createWalletsPayout>;

const ZERO_ADDRESS = /^0x0{40}$/i;
const REFERENCE_MAX = 140;
const NOTE_MAX = 500;

export interface WalletTarget {
  readonly chainId: number;
  readonly chainName: string;
  /** Of that chain alone. */
  readonly tokens: readonly TokenInfo[];
  readonly treasury: string;
  /** Address or `native`: for rows that name no token; empty where nothing was chosen. */
  readonly defaultToken: string;
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Finds a token by its symbol, address or CAIP-19 id, or by `native`. Returns undefined for a symbol that two tokens share. */
export const findToken = (text: string, { tokens, defaultToken }: WalletTarget): TokenInfo | undefined => {
  const wanted = text.trim() === "" ? defaultToken : text.trim();
  const exact = tokens.find((token) => same(token.address, wanted) || same(token.caip19, wanted));
  if (exact !== undefined) return exact;
  const named = tokens.filter((token) => same(token.symbol, wanted));
  return named.length === 1 ? named[0] : undefined;
};

const tokenProblem = (text: string, target: WalletTarget): string | null => {
  if (findToken(text, target) !== undefined) return null;
  return text.trim() === "" ? "Choose a token." : `${target.chainName} has no token "${text.trim().slice(0, 20)}".`;
};

const recipientProblem = (text: string, token: TokenInfo | undefined, target: WalletTarget): string | null => {
  if (text === "") return "Enter an address.";
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return "This is not an address: it needs 0x and 40 digits from 0 to f.";
  if (!addressSchema.safeParse(text).success)
    return "The checksum is wrong: a character was changed. Copy the address again.";
  if (ZERO_ADDRESS.test(text)) return "Nobody owns the zero address; money sent there is lost.";
  if (same(text, target.treasury)) return "This is the treasury, which pays.";
  if (token !== undefined && same(text, token.address))
    return `This is the contract of ${token.symbol}; money sent there is lost.`;
  return target.tokens.some((each) => same(each.address, text))
    ? "This is the contract of a token, not a wallet."
    : null;
};

const RAGGED = "This line has more cells than the others. Check for a comma inside the amount, then enter it again.";

const problemsOf = (row: DraftValues, target: WalletTarget): RowProblems => {
  const token = findToken(row.token, target);
  const recipient = recipientProblem(row.recipient.trim(), token, target);
  const tokenWrong = tokenProblem(row.token, target);
  const amount = row.ragged
    ? RAGGED
    : amountProblem(row.amount, { currency: token?.symbol ?? "The token", decimals: token?.decimals ?? 18 });
  const reference = textProblem(row.reference.trim(), REFERENCE_MAX);
  const note = textProblem(row.note.trim(), NOTE_MAX);
  return {
    ...(recipient === null ? {} : { recipient }),
    ...(amount === null ? {} : { amount }),
    ...(tokenWrong === null ? {} : { token: tokenWrong }),
    ...(reference === null ? {} : { reference }),
    ...(note === null ? {} : { note }),
  };
};

/** The page's own checks of rows that pay addresses on one chain; the service checks everything again. */
export const walletRules = (target: WalletTarget): RowRules => {
  const rules = remembered({
    fields: ["recipient", "amount", "token", "reference", "note"],
    problemsOf: (row) => problemsOf(row, target),
    moneyOf: (row) => {
      const token = findToken(row.token, target);
      if (token === undefined || rules.problemsOf(row).amount !== undefined) return null;
      return {
        id: token.address,
        symbol: token.symbol,
        decimals: token.decimals,
        base: parseAmount(row.amount.trim(), token.decimals),
      };
    },
    contentOf: (row) => {
      const money = rules.moneyOf(row);
      if (money === null || row.recipient.trim() === "") return null;
      return JSON.stringify([row.recipient.trim().toLowerCase(), money.id, String(money.base), row.reference.trim()]);
    },
  });
  return rules;
};

/** The rows of `POST /payouts/bulk/wallets`. Tokens go by address, because symbols can be shared. */
export const walletTransfers = (rows: readonly DraftRow[], target: WalletTarget): WalletsBody["transfers"] =>
  rows.map((row) => ({
    address: row.recipient.trim(),
    amount: row.amount.trim(),
    token: findToken(row.token, target)?.address ?? row.token.trim(),
    ...(row.reference.trim() === "" ? {} : { reference: row.reference.trim() }),
    ...(row.note.trim() === "" ? {} : { note: row.note.trim() }),
  }));
