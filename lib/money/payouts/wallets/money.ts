/**
 * Checks whether the treasury can pay a payout, and reads the balances and reserves that must
 * suffice when its money is held.
 */
import type { ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { DomainError, isDomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { HoldsService, Shortfall, Spending } from "@/lib/books/holds/service";
import type { ReservesService } from "@/lib/books/reserves/service";
import type { BatchHold, Holding } from "./hold-batch-repository";
import type { PayoutFee } from "./pricing";
import type { WalletPayoutsRepository } from "./repository";
import { tokenName, type PayoutPlan } from "./rows";
import type { WalletPayout } from "./wallet-payout";

export interface MoneyDeps {
  readonly registry: Pick<ChainRegistry, "get" | "native">;
  readonly holds: Pick<HoldsService, "reserving" | "shortfalls">;
  readonly reserves: Pick<ReservesService, "backingOf">;
  readonly repository: Pick<WalletPayoutsRepository, "tryHolding">;
  readonly clock: Clock;
}

export interface Outflow {
  readonly chainId: number;
  readonly treasury: { readonly address: string };
  readonly totals: readonly { readonly token: Token; readonly amountBase: bigint }[];
}

export const outflowOf = (walletPayout: WalletPayout): Outflow => ({
  chainId: walletPayout.chainId,
  treasury: { address: walletPayout.fromAddress },
  totals: walletPayout.totals,
});

export type HoldingAt = Pick<
  Holding,
  "payoutId" | "projectId" | "batches" | "costs" | "account"
>;

export const holdsOf = ({ batches }: PayoutPlan): BatchHold[] =>
  batches.map(({ number, token, amountBase }) => ({
    number,
    token: tokenName(token),
    amountBase,
  }));

const spendingsOf = ({ treasury, totals }: Outflow): Spending[] =>
  totals.map(({ token, amountBase }) => ({ owner: treasury.address, token, amountBase }));

export const createPayoutMoney = ({
  registry,
  holds,
  reserves,
  repository,
  clock,
}: MoneyDeps) => {
  /**
   * Returns the amounts that the treasury spends. Adds the network fee in the chain's native coin
   * when no sponsor pays it.
   */
  const withFee = (outflow: Outflow, fee: Pick<PayoutFee, "wei" | "paidBy">): Spending[] => {
    const spendings = spendingsOf(outflow);
    if (fee.paidBy === "sponsor") return spendings;
    const coin = registry.native(outflow.chainId);
    const coinSpending = spendings.find(({ token }) => token.address === coin.address);
    const amountBase = (coinSpending?.amountBase ?? 0n) + fee.wei;
    return [
      ...spendings.filter((each) => each !== coinSpending),
      { owner: outflow.treasury.address, token: coin, amountBase },
    ];
  };

  /**
   * Returns the amounts that the treasury lacks on the chain now, by token.
   * @throws DomainError `chain_unavailable`
   */
  const missing = (
    outflow: Outflow,
    fee: Pick<PayoutFee, "wei" | "paidBy">,
  ): Promise<Shortfall<Spending>[]> => holds.shortfalls(withFee(outflow, fee));

  const notEnough = (
    { chainId }: Outflow,
    shortfalls: readonly Shortfall<Spending>[],
  ): DomainError => {
    const { name } = registry.get(chainId);
    const details = shortfalls.map(({ source: { token }, missingBase }) => ({
      path: "transfers",
      message: `${formatAmount(missingBase, token.decimals)} ${token.symbol} are missing in the treasury on ${name}`,
      code: "insufficient_balance",
    }));
    const text = details.map(({ message }) => message).join("; ");
    return new DomainError("insufficient_balance", `${text}. Nothing was paid.`, { details });
  };

  /**
   * Reads the balances and reserves that the payout spends from, and passes them to `work`, which
   * holds the payout's money in a transaction.
   * @throws DomainError `insufficient_balance`, `insufficient_reserves`, `rate_limited`,
   * `chain_unavailable`
   */
  const withHolding = <T>(
    at: HoldingAt,
    outflow: Outflow,
    work: (holding: Holding) => Promise<T>,
  ): Promise<T> => {
    const spendings = spendingsOf(outflow);
    const { chainId, treasury } = outflow;
    return holds.reserving(spendings, async (read) => {
      const backing = await reserves.backingOf(at.projectId, spendings);
      return work({ ...at, chainId, walletAddress: treasury.address, funds: read, backing });
    });
  };

  /**
   * Returns the error that holding the payout's money would cause now; null when it would succeed.
   * Holds nothing, because the transaction is rolled back.
   * @throws DomainError `chain_unavailable`
   */
  const obstacle = async (
    at: HoldingAt,
    outflow: Outflow,
    fee: PayoutFee,
  ): Promise<DomainError | null> => {
    const shortfalls = await missing(outflow, fee);
    if (shortfalls.length > 0) return notEnough(outflow, shortfalls);
    try {
      await withHolding(at, outflow, (holding) => repository.tryHolding(holding, clock.now()));
      return null;
    } catch (error) {
      if (!isDomainError(error)) throw error;
      return error;
    }
  };

  return { missing, notEnough, withHolding, obstacle };
};

export type PayoutMoney = ReturnType<typeof createPayoutMoney>;
