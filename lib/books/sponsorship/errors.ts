import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import { KIND_NAMES, type SponsoredChain, type SponsoredKind } from "./limits";

const COIN_DECIMALS = 18;
const grouped = (gas: bigint): string => gas.toLocaleString("en-US");
const coins = ({ nativeCurrency }: SponsoredChain, wei: bigint): string =>
  `${formatAmount(wei, COIN_DECIMALS)} ${nativeCurrency.symbol}`;

export const aboveCeiling = (
  chain: SponsoredChain,
  { kind, gas, ceiling }: { kind: SponsoredKind; gas: bigint; ceiling: bigint },
): DomainError =>
  new DomainError(
    "sponsor_budget_exceeded",
    `This ${KIND_NAMES[kind]} may use ${grouped(gas)} gas on ${chain.name}. The project's sponsor pays for ${grouped(ceiling)} gas at most. Nothing was sent.`,
    {
      extra: {
        sponsor: { chainId: chain.id, gas: gas.toString(), gasCeiling: ceiling.toString() },
      },
    },
  );

/**
 * The error for a user operation whose gas limit exceeds the limit of any transaction (EIP-7825),
 * also when the account pays for its gas.
 */
export const aboveTransactionLimit = (
  chain: SponsoredChain,
  gas: bigint,
  limit: bigint,
): DomainError =>
  new DomainError(
    "simulation_failed",
    `This may use ${grouped(gas)} gas on ${chain.name}, and one transaction may use ${grouped(limit)} at most (EIP-7825). Nothing was sent.`,
    { extra: { reason: "the gas limit of a transaction" } },
  );

export const aboveOperationBudget = (
  chain: SponsoredChain,
  { neededWei, operationWei }: { neededWei: bigint; operationWei: bigint },
): DomainError =>
  new DomainError(
    "sponsor_budget_exceeded",
    `The network fees on ${chain.name} may come to ${coins(chain, neededWei)}. The project's sponsor pays ${coins(chain, operationWei)} at most for one operation. Nothing was sent.`,
    {
      extra: {
        sponsor: {
          chainId: chain.id,
          symbol: chain.nativeCurrency.symbol,
          needed: formatAmount(neededWei, COIN_DECIMALS),
          perOperation: formatAmount(operationWei, COIN_DECIMALS),
        },
      },
    },
  );

export const dailyBudgetUsed = (
  chain: SponsoredChain,
  state: { neededWei: bigint; remainingWei: bigint; dailyWei: bigint; resetsAt: Date },
): DomainError =>
  new DomainError(
    "sponsor_budget_exceeded",
    `The network fees on ${chain.name} may come to ${coins(chain, state.neededWei)}. Of the ${coins(chain, state.dailyWei)} that the project's sponsor pays a day ${coins(chain, state.remainingWei)} are left until ${state.resetsAt.toISOString()}. Nothing was sent.`,
    {
      extra: {
        sponsor: {
          chainId: chain.id,
          symbol: chain.nativeCurrency.symbol,
          needed: formatAmount(state.neededWei, COIN_DECIMALS),
          remaining: formatAmount(state.remainingWei, COIN_DECIMALS),
          dailyLimit: formatAmount(state.dailyWei, COIN_DECIMALS),
          resetsAt: state.resetsAt.toISOString(),
        },
      },
    },
  );
