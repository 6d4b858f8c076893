import { worthOf } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import { LEDGER_DECIMALS } from "@/lib/modules/ledger/service";

const USD_DECIMALS = 6;

/** Worth in US dollars, rounded up, because it is compared with a cap. */
export const worth = (base: bigint, priceUsd: string | null | undefined): string | null => {
  if (priceUsd === null || priceUsd === undefined) return null;
  const of = { amountBase: base, decimals: LEDGER_DECIMALS, price: priceUsd };
  return formatAmount(worthOf(of, USD_DECIMALS, "ceil"), USD_DECIMALS);
};
