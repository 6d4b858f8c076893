/** Computes fees and limits, and checks the input, on the pages of private moves. */
import { checkedBy, precisionProblem } from "@/components/features/money-flow/field-checks";
import { address, amount as amountSchema } from "@/lib/contracts/common";
import { SLIPPAGE_PROBLEM, slippageBps } from "@/components/features/money-flow/slippage";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { feeFloor, grossForAddress, grossForNote, netOf } from "@/lib/core/fees";
import { readOrTyped } from "@/lib/core/read-amount";
import type { PoolBalance, PrivateQuote } from "../parts";

export type Action = "shield" | "transfer" | "swap" | "unshield";

type Target = "address" | "wallet";

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

interface Fees {
  /** The amount that leaves the treasury or the notes, in base units. */
  readonly grossBase: bigint;
  /** The amount that arrives: the new note of a shield, or the recipient's amount. */
  readonly netBase: bigint;
  readonly relayFeeBase: bigint;
  readonly poolFeeBase: bigint;
}

/**
 * Converts an amount or a balance to base units of the pool's token. Unlike `parseAmount`, it
 * accepts zero.
 */
const base = (text: string, { token }: PoolBalance): bigint =>
  /[1-9]/.test(text) ? parseAmount(text, token.decimals) : 0n;

const grossOf = (pool: PoolBalance, target: Target) =>
  target === "wallet"
    ? (net: bigint): bigint => grossForNote(net, pool)
    : (net: bigint): bigint => grossForAddress(net, pool.relayFeeBps);

/**
 * The fees of a move of `amountBase`. They reduce the note of a shield; for other actions they are
 * paid on top.
 */
export const feesOf = (
  action: Exclude<Action, "swap">,
  pool: PoolBalance,
  move: { readonly amountBase: bigint; readonly target: Target },
): Fees => {
  const { amountBase, target } = move;
  if (action === "shield") {
    const poolFeeBase = feeFloor(pool.shieldFeeBps)(amountBase);
    return {
      grossBase: amountBase,
      netBase: amountBase - poolFeeBase,
      relayFeeBase: 0n,
      poolFeeBase,
    };
  }
  const grossBase = grossOf(pool, target)(amountBase);
  const depositedBase =
    target === "wallet" ? grossForNote(amountBase, { ...pool, relayFeeBps: 0 }) : amountBase;
  return {
    grossBase,
    netBase: amountBase,
    relayFeeBase: grossBase - depositedBase,
    poolFeeBase: depositedBase - amountBase,
  };
};

/**
 * The largest amount that can be entered. For a shield it is the treasury's balance, and for a swap
 * the spendable balance. For other actions it is the amount that arrives when the whole spendable
 * balance is sent.
 */
export const mostOf = (
  action: Action,
  pool: PoolBalance,
  has: { readonly treasury: string | null; readonly target: Target },
): string | null => {
  if (action === "shield") return has.treasury;
  if (action === "swap") return pool.spendable;
  const most = netOf(
    base(pool.spendable, pool),
    grossOf(pool, action === "unshield" ? "address" : has.target),
  );
  return formatAmount(most, pool.token.decimals);
};

/**
 * The typed amount for receipts and pictures, even while other fields are wrong. Null when it is
 * not a valid amount of the token.
 */
export const readableAmount = (typed: string, { token }: PoolBalance): string | null => {
  const text = readOrTyped(typed);
  const isPossible =
    amountSchema.safeParse(text).success && precisionProblem(token, text) === null;
  return isPossible ? text : null;
};

const amountProblem = (
  action: Action,
  values: FormValues,
  pool: PoolBalance,
  treasury: string | null,
): string | undefined => {
  const text = readOrTyped(values.amount);
  if (text === "") return "Enter an amount such as 1,250.00.";
  if (!amountSchema.safeParse(text).success)
    return "Enter an amount above zero, such as 1,250.00.";
  const precision = precisionProblem(pool.token, text);
  if (precision !== null) return precision;
  const { symbol } = pool.token;
  const amountBase = base(text, pool);
  if (action !== "unshield" && amountBase < base(pool.minimum, pool))
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

const recipientAddress = checkedBy(
  address,
  "address",
  "Enter the recipient's address, or choose a contact.",
);

export interface FormCheck {
  readonly errors: FormErrors;
  /** Null while a value is missing or wrong. */
  readonly amount: string | null;
}

export interface FormSurroundings {
  readonly pool: PoolBalance | undefined;
  readonly toPool: PoolBalance | undefined;
  /** The treasury's balance of the pool's token; null while it is unknown. */
  readonly treasury: string | null;
}

type MutableErrors = { -readonly [Field in keyof FormErrors]: FormErrors[Field] };

const targetErrors = (
  action: Action,
  values: FormValues,
  around: FormSurroundings,
): MutableErrors => {
  if (action === "swap") return swapErrors(values, around);
  const errors: MutableErrors = {};
  if (action === "transfer" && values.target === "wallet") {
    if (values.toWalletId === "")
      errors.toWalletId = "Choose the private wallet that receives.";
    else if (values.toWalletId === values.walletId)
      errors.toWalletId = "Choose another wallet than the one that pays.";
    if (around.pool?.canProcess === false)
      errors.pool = "This pool cannot pay private wallets. Pay an address instead.";
    return errors;
  }
  const needsAddress = action === "transfer" || values.toAddress.trim() !== "";
  const { error } = recipientAddress.safeParse(values.toAddress);
  if (action !== "shield" && needsAddress && error !== undefined)
    errors.toAddress = error.issues[0]?.message;
  return errors;
};

const swapErrors = (values: FormValues, { pool, toPool }: FormSurroundings): MutableErrors => {
  const errors: MutableErrors = {};
  if (toPool === undefined) errors.toPool = "Choose the token to receive.";
  else if (toPool === pool) errors.toPool = "Choose another token than the one you swap.";
  if (pool?.canProcess === false) errors.pool = "This pool has no private swaps.";
  if (slippageBps(values.slippage) === null) errors.slippage = SLIPPAGE_PROBLEM;
  return errors;
};

/**
 * Finds missing and wrong values. The service checks everything again; its errors appear at the
 * same fields.
 */
export const checkForm = (
  action: Action,
  values: FormValues,
  around: FormSurroundings,
): FormCheck => {
  const { pool } = around;
  if (pool === undefined) return { errors: { pool: "Choose a token." }, amount: null };
  const errors = targetErrors(action, values, around);
  const problem = amountProblem(action, values, pool, around.treasury);
  if (problem !== undefined) errors.amount = problem;
  const isRight = Object.keys(errors).length === 0;
  return { errors, amount: isRight ? readOrTyped(values.amount) : null };
};

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

interface Promised {
  readonly expected: Pick<PrivateQuote["expected"], "amountBase">;
  readonly minimum: Pick<PrivateQuote["minimum"], "amountBase">;
}

/** Whether the fresh quote has a lower minimum or expected amount than the seen quote. */
export const isWorse = (seen: Promised, fresh: Promised): boolean =>
  BigInt(fresh.minimum.amountBase) < BigInt(seen.minimum.amountBase) ||
  BigInt(fresh.expected.amountBase) < BigInt(seen.expected.amountBase);
