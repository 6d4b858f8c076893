import type { Asked } from "@/components/features/money-flow/spendable";
import { readAmount } from "@/lib/core/read-amount";
import { sumAmounts } from "./decimal";
import { findToken, type SwapValues } from "./form-model";
import { spendableAt, type SwapSetup } from "./use-swap-setup";

/**
 * The amount asked of each source, beside the amount that it may give. Sources of the treasury share the part that backs no global
 * account, so that one asset over several chains is counted together, too.
 */
export const askedOf = (setup: SwapSetup, { sources }: Pick<SwapValues, "sources">): Asked[] => {
  const single = sources.flatMap((source): (Asked & { assetId: string; isTreasury: boolean })[] => {
    const token = findToken(setup.tokens, source.chainId, source.token);
    if (token === undefined) return [];
    const isTreasury = setup.treasury?.address.toLowerCase() === source.address.toLowerCase();
    const asked = readAmount(source.amount);
    return [{ ...spendableAt(setup, source), symbol: token.symbol, asked, assetId: token.assetId, isTreasury }];
  });
  const shared = (setup.reserves ?? []).flatMap(({ assetId, liabilities, available }): Asked[] => {
    const parts = single.filter((one) => one.isTreasury && one.assetId === assetId && one.backing !== null);
    if (parts.length < 2) return [];
    const asked = sumAmounts(parts.map((part) => part.asked ?? "0"));
    return [{ symbol: parts[0]?.symbol ?? assetId, asked, amount: available, backing: liabilities }];
  });
  return [...single, ...shared];
};
