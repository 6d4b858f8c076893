/** Checks the input on the pages of private moves and turns it into requests. */
import { readAmount } from "@/lib/core/read-amount";
import { precisionProblem } from "@/components/features/money-flow/field-checks";
import { address as addressSchema, amount as amountSchema } from "@/lib/contracts/common";
import { SLIPPAGE_BPS_MAX } from "@/lib/contracts/swap";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { feeFloor, grossForAddress, grossForNote, netOf } from "@/lib/core/privacy-fees";
import type { PoolBalance } from "../types";

export type Action = "shield" | "transfer" | "swap" | "unshield";

/** Where the money of a move goes to. */
export type Target = "address" | "wallet";

export interface FormValues {
  readonly walletId: string;
  readonly pool: string;
  readonly amount: string;
  readonly target: Target;
  readonly toAddress: string;
  readonly toWalletId: string;
  readonly toPool: string;
  readonly slippage: string;
}

export type FormErrors = Readonly<Partial<Record<keyof FormValues, string>>>;

export interface Fees {
  /** The amount that leaves the treasury or the notes, in base units. */
  readonly grossBase: bigint;
  /** The amount that arrives: the note of a shield, or the amount of the recipient. */
  readonly netBase: bigint;
  readonly relayFeeBase: bigint;
  readonly poolFeeBase: bigint;
}

/** Of balances too, which may be zero; `parseAmount` reads amounts of requests, and refuses zero. */
const base = (text: string, { token }: PoolBalance): bigint =>
  /[1-9]/.test(text) ? parseAmount(text, token.decimals) : 0n;

const grossOf = (pool: PoolBalance, target: Target) =>
  target === "wallet"
    ? (net: bigint): bigint => grossForNote(net, pool)
    : (net: bigint): bigint => grossForAddress(net, pool.relayFeeBps);

/** Fees of a move of `amountBase`: taken off a shield, on top of a transfer. */
export const feesOf = (
  action: Exclude<Action, "swap">,
  pool: PoolBalance,
  move: { readonly amountBase: bigint; readonly target: Target },
): Fees => {
  const { amountBase, target } = move;
  if (action === "shield") {
    const poolFeeBase = feeFloor(pool.shieldFeeBps)(amountBase);
    return { grossBase: amountBase, netBase: amountBase - poolFeeBase, relayFeeBase: 0n, poolFeeBase };
  }
  const grossBase = grossOf(pool, target)(amountBase);
  const depositedBase = target === "wallet" ? grossForNote(amountBase, { ...pool, relayFeeBps: 0 }) : amountBase;
  return {
    grossBase,
    netBase: amountBase,
    relayFeeBase: grossBase - depositedBase,
    poolFeeBase: depositedBase - amountBase,
  };
};

/** The most that can be typed: of a shield what the treasury has, of the rest what arrives when all that is spendable leaves. */
export const mostOf = (
  action: Action,
  pool: PoolBalance,
  has: { readonly treasury: string | null; readonly target: Target },
): string | null => {
  if (action === "shield") return has.treasury;
  if (action === "swap") return pool.spendable;
  const most = netOf(base(pool.spendable, pool), grossOf(pool, action === "unshield" ? "address" : has.target));
  return formatAmount(most, pool.token.decimals);
};

/** The plain decimal string of an amount that is typed as the browser's locale writes it; text that is no amount stays as it is. */
export const amountText = (typed: string): string => readAmount(typed) ?? typed.trim();

/** The typed amount where it is one that the token can have, whatever else is wrong; for receipts and pictures. */
export const readableAmount = (typed: string, { token }: PoolBalance): string | null => {
  const text = amountText(typed);
  return amountSchema.safeParse(text).success && precisionProblem(token, text) === null ? text : null;
};

const needsMinimum = (action: Action): boolean => action !== "unshield";

const amountProblem = (
  action: Action,
  values: FormValues,
  pool: PoolBalance,
  treasury: string | null,
): string | undefined => {
  const text = amountText(values.amount);
  if (text === "") return "Enter an amount such as 1,250.00.";
  if (!amountSchema.safeParse(text).success) return "Enter an amount above zero, such as 1,250.00.";
  const precision = precisionProblem(pool.token, text);
  if (precision !== null) return precision;
  const { symbol } = pool.token;
  const amountBase = base(text, pool);
  if (needsMinimum(action) && amountBase < base(pool.minimum, pool))
    return `The smallest amount of this pool is ${pool.minimum} ${symbol}.`;
  const most = mostOf(action, pool, { treasury, target: values.target });
  if (most !== null && amountBase > base(most, pool)) {
    const missing = formatAmount(amountBase - base(most, pool), pool.token.decimals);
    return action === "shield"
      ? `The treasury is short of ${missing} ${symbol}.`
      : `You are short ${missing} ${symbol} of what is spendable now.`;
  }
  return undefined;
};

const addressProblem = (typed: string): string | undefined => {
  if (typed.trim() === "") return "Enter the recipient's address, or choose a contact.";
  const problem = addressSchema.safeParse(typed.trim()).error?.issues[0]?.message;
  return problem === undefined ? undefined : `The address ${problem}.`;
};

/** A percentage in basis points; null where the text is none, or more than the service takes. */
export const slippageBps = (typed: string): number | null => {
  const text = typed.trim().replace(",", ".");
  if (!/^(\d{1,2}(\.\d{1,2})?|\.\d{1,2})$/.test(text)) return null;
  const bps = Math.round(Number(text) * 100);
  return bps <= SLIPPAGE_BPS_MAX ? bps : null;
};

export interface FormCheck {
  readonly errors: FormErrors;
  /** Null while something is missing or wrong. */
  readonly amount: string | null;
}

export interface FormSurroundings {
  readonly pool: PoolBalance | undefined;
  readonly toPool: PoolBalance | undefined;
  /** The treasury's balance of the pool's token; null where it is not known. */
  readonly treasury: string | null;
}

const targetErrors = (action: Action, values: FormValues, { pool, toPool }: FormSurroundings): FormErrors => {
  const errors: Partial<Record<keyof FormValues, string>> = {};
  if (action === "transfer" && values.target === "wallet") {
    if (values.toWalletId === "") errors.toWalletId = "Choose the private wallet that receives.";
    else if (values.toWalletId === values.walletId) errors.toWalletId = "Choose another wallet than the one that pays.";
    if (pool?.canProcess === false) errors.pool = "This pool cannot pay private wallets. Pay an address instead.";
  } else if (action === "transfer" || (action === "unshield" && values.toAddress.trim() !== "")) {
    const problem = addressProblem(values.toAddress);
    if (problem !== undefined) errors.toAddress = problem;
  }
  if (action === "swap") {
    if (toPool === undefined) errors.toPool = "Choose the token to receive.";
    else if (toPool === pool) errors.toPool = "Choose another token than the one you swap.";
    if (pool?.canProcess === false) errors.pool = "This pool has no private swaps.";
    if (slippageBps(values.slippage) === null) errors.slippage = "Enter a percentage from 0 to 10, such as 0.5.";
  }
  return errors;
};

/** Finds missing and wrong values. The service checks everything again; its errors appear at the same fields. */
export const checkForm = (action: Action, values: FormValues, around: FormSurroundings): FormCheck => {
  const { pool } = around;
  if (pool === undefined) return { errors: { pool: "Choose a token." }, amount: null };
  const amount = amountProblem(action, values, pool, around.treasury);
  const errors = { ...targetErrors(action, values, around), ...(amount === undefined ? {} : { amount }) };
  return { errors, amount: Object.keys(errors).length === 0 ? amountText(values.amount) : null };
};

/** Where the API's names of fields stand in the forms. */
export const API_FIELDS: Readonly<Record<string, keyof FormValues>> = {
  amount: "amount",
  token: "pool",
  chainId: "pool",
  fromToken: "pool",
  toToken: "toPool",
  toAddress: "toAddress",
  toPrivacyWalletId: "toWalletId",
  privacyWalletId: "walletId",
  slippageBps: "slippage",
};

/** Assigns the API's `details` to the fields of the form. */
export const serverErrors = (details: readonly { readonly path: string; readonly message: string }[]): FormErrors => {
  const errors: Partial<Record<keyof FormValues, string>> = {};
  for (const { path, message } of details) {
    const field = API_FIELDS[path];
    if (field !== undefined) errors[field] ??= message;
  }
  return errors;
};
