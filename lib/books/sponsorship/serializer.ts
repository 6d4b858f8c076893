import type { ResponseOf } from "@/lib/contracts/contract";
import type { updateSponsorBudget } from "@/lib/contracts/sponsor-budgets";
import { formatAmount } from "@/lib/core/money";
import type { SponsorBudget } from "./service";

const COIN_DECIMALS = 18;
const coins = (wei: bigint): string => formatAmount(wei, COIN_DECIMALS);

type SponsorBudgetRecord = ResponseOf<typeof updateSponsorBudget>;

export const toSponsorBudget = (budget: SponsorBudget): SponsorBudgetRecord => ({
  chainId: budget.chain.id,
  symbol: budget.chain.nativeCurrency.symbol,
  dailyLimit: coins(budget.dailyWei),
  dailyCeiling: coins(budget.ceiling.dailyWei),
  used: coins(budget.usedWei),
  reserved: coins(budget.reservedWei),
  remaining: coins(budget.remainingWei),
  resetsAt: budget.resetsAt.toISOString(),
  perOperation: coins(budget.operationWei),
  perOperationCeiling: coins(budget.ceiling.operationWei),
});

export const toSponsorBudgets = (budgets: readonly SponsorBudget[]): SponsorBudgetRecord[] =>
  budgets.map(toSponsorBudget);
