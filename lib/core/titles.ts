import { amountText, countText, titleAmount } from "./amount-text";
import { rescaleFloor } from "./money";
import {
  MOVEMENT_KINDS,
  movementWords,
  type MovementKindName,
  OPERATION_KINDS,
} from "./movement-kinds";

export const OPERATION_WORDS = Object.fromEntries(
  OPERATION_KINDS.map((kind) => [kind, MOVEMENT_KINDS[kind].words]),
) as Readonly<Record<MovementKindName, string>>;

interface TitledOperation {
  readonly kind: string;
  readonly sources: readonly {
    readonly token: {
      readonly assetId: string;
      readonly symbol: string;
      readonly decimals: number;
    };
    readonly amountBase: bigint;
  }[];
}

interface AssetSum {
  readonly symbol: string;
  readonly decimals: number;
  readonly amountBase: bigint;
}

/**
 * The amounts of the sources, summed for each asset. If an asset has different decimals on
 * different chains, its sum has the largest number of decimals.
 */
export const sumsOfSources = (sources: TitledOperation["sources"]): AssetSum[] => {
  const sums = new Map<string, AssetSum>();
  for (const { token, amountBase } of sources) {
    const { assetId, symbol } = token;
    const before = sums.get(assetId) ?? { symbol, decimals: token.decimals, amountBase: 0n };
    const decimals = Math.max(before.decimals, token.decimals);
    const sum =
      rescaleFloor(before.amountBase, before.decimals, decimals) +
      rescaleFloor(amountBase, token.decimals, decimals);
    sums.set(assetId, { symbol, decimals, amountBase: sum });
  }
  return [...sums.values()];
};

/**
 * The kind of an operation with the amounts that it spends, summed for each asset. Decimals of one
 * asset may differ between chains.
 * @example operationTitle({ kind: "swap", sources }) // "Swap of 200,000.00 USDC and 4,200.00 DAI"
 */
export const operationTitle = ({ kind, sources }: TitledOperation): string => {
  const name = movementWords(kind);
  const amounts = sumsOfSources(sources).map((sum) => titleAmount(sum.amountBase, sum));
  return amounts.length === 0 ? name : `${name} of ${amounts.join(" and ")}`;
};

// Titles of payouts in lists, on their pages and in files. Browser-safe.

interface TitledPayout {
  /** The name that the creator chose; null when there is none. */
  readonly reference: string | null;
  readonly totals: readonly { readonly amount: string; readonly symbol: string }[];
  readonly recipients: number;
}

interface TitleOptions {
  /** True when amounts are hidden; the title then names only the tokens. */
  readonly hidden?: boolean;
  readonly locale?: string;
}

/**
 * Up to this many tokens are named. With more, only the first is named and the others are counted.
 */
const TOKENS_NAMED = 2;

/**
 * The reference of a payout, or else its amounts and the number of recipients.
 * @example payoutTitle({ reference: null, totals: [{ amount: "1250", symbol: "USDC" }], recipients:
 * 12 }) // "1,250.00 USDC to 12 recipients"
 */
export const payoutTitle = (
  { reference, totals, recipients }: TitledPayout,
  { hidden = false, locale }: TitleOptions = {},
): string => {
  if (reference !== null) return reference;
  const named = totals.length > TOKENS_NAMED ? totals.slice(0, 1) : totals;
  const sums = named.map(({ amount, symbol }) =>
    hidden ? symbol : `${amountText(amount, { symbol, locale }).text} ${symbol}`,
  );
  const others = totals.length - named.length;
  const all = [
    ...sums,
    ...(others === 0 ? [] : [`${countText(others, locale)} more tokens`]),
  ].join(" + ");
  return `${all} to ${countText(recipients, locale)} ${recipients === 1 ? "recipient" : "recipients"}`;
};

interface MovedPayout {
  readonly reference: string | null;
  readonly sent: readonly {
    readonly amount: string;
    readonly token: { readonly symbol: string };
  }[];
  /** `count` is set only for several recipients. */
  readonly counterparty: { readonly type: string; readonly count?: number } | null;
}

/** Like `payoutTitle`, for a payout in a list of movements. */
export const movedPayoutTitle = (
  { reference, sent, counterparty }: MovedPayout,
  options: TitleOptions = {},
): string => {
  const totals = sent.map(({ amount, token: { symbol } }) => ({ amount, symbol }));
  return payoutTitle({ reference, totals, recipients: counterparty?.count ?? 1 }, options);
};
