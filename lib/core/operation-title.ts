/** How an operation is called in titles of tasks and in the audit log. Browser-safe. */
import { titleAmount } from "./amount-text";
import { rescaleFloor } from "./money";
import { OPERATION_WORDS } from "./operation-words";

// An instance of a later version may store other kinds.
const NAMES: Readonly<Record<string, string>> = OPERATION_WORDS;

interface TitledOperation {
  /** One of `OPERATION_WORDS`. */
  readonly kind: string;
  readonly sources: readonly {
    readonly token: { readonly assetId: string; readonly symbol: string; readonly decimals: number };
    readonly amountBase: bigint;
  }[];
}

/**
 * The kind of an operation with all of its sources, each asset once. Decimals of one asset may differ between chains.
 * @example operationTitle({ kind: "swap", sources }) // "Swap of 200,000.00 USDC and 4,200.00 DAI"
 */
export const operationTitle = ({ kind, sources }: TitledOperation): string => {
  const sums = new Map<string, { readonly symbol: string; readonly decimals: number; readonly amountBase: bigint }>();
  for (const { token, amountBase } of sources) {
    const { assetId, symbol } = token;
    const before = sums.get(assetId) ?? { symbol, decimals: token.decimals, amountBase: 0n };
    const decimals = Math.max(before.decimals, token.decimals);
    const sum =
      rescaleFloor(before.amountBase, before.decimals, decimals) + rescaleFloor(amountBase, token.decimals, decimals);
    sums.set(assetId, { symbol, decimals, amountBase: sum });
  }
  const name = NAMES[kind] ?? "Operation";
  const amounts = [...sums.values()].map((sum) => titleAmount(sum.amountBase, sum));
  return amounts.length === 0 ? name : `${name} of ${amounts.join(" and ")}`;
};
