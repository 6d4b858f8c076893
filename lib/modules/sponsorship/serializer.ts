import type { getMe } from "@/lib/contracts/auth";
import type { ResponseOf } from "@/lib/contracts/contract";
import { formatAmount } from "@/lib/core/money";
import type { SponsorBudget } from "./service";

const COIN_DECIMALS = 18;
const coins = (wei: bigint): string => formatAmount(wei, COIN_DECIMALS);

export const toSponsorBudgets = (budgets: readonly SponsorBudget[]): ResponseOf<typeof getMe>["sponsorBudgets"] =>
  budgets.map((budget) => ({
    chainId: budget.chain.id,
    symbol: budget.chain.nativeCurrency.symbol,
    dailyLimit: coins(budget.dailyWei),
    used: coins(budget.usedWei),
    reserved: coins(budget.reservedWei),
    remaining: coins(budget.remainingWei),
    resetsAt: budget.resetsAt.toISOString(),
    perOperation: coins(budget.operationWei),
  }));
