import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { fundsKey, type Funds, type FundsKey, type FundsRepository } from "./repository";

export { FundsMovedError, reserveFunds, syncHold, type Funds, type Hold } from "./repository";

/** Something that a wallet is to spend. */
export interface Spending {
  readonly owner: string;
  readonly token: Token;
  readonly amountBase: bigint;
}

export interface Shortfall<S extends Spending> {
  readonly source: S;
  readonly index: number;
  readonly missingBase: bigint;
}

export interface FundsDeps {
  repository: FundsRepository;
  /** Balances on chain at the latest block, in base units, in the order asked. @throws DomainError `chain_unavailable` */
  readBalances(at: readonly { chainId: number; owner: string; token: Token }[]): Promise<readonly bigint[]>;
}

export const fundsKeyOf = ({ owner, token }: Pick<Spending, "owner" | "token">): FundsKey => ({
  walletAddress: owner,
  chainId: token.chainId,
  token: token.address.toLowerCase(),
});

/** What wallets can spend: what the chain shows, less what accepted operations will still take. */
export const createFundsService = ({ repository, readBalances }: FundsDeps) => {
  const distinct = (spendings: readonly Spending[]): Spending[] => [
    ...new Map(spendings.map((spending) => [fundsKey(fundsKeyOf(spending)), spending])).values(),
  ];

  /** The balances of these spendings, each with the guard's version from before it was read. */
  const read = async (spendings: readonly Spending[]): Promise<Funds[]> => {
    const each = distinct(spendings);
    const versions = await repository.guardVersions(each.map(fundsKeyOf));
    const balances = await readBalances(each.map(({ owner, token }) => ({ chainId: token.chainId, owner, token })));
    return each.map((spending, index) => {
      const key = fundsKeyOf(spending);
      return { ...key, balanceBase: balances[index] ?? 0n, guardVersion: versions.get(fundsKey(key)) ?? 0 };
    });
  };

  /** Which spendings the wallets cannot afford now. */
  const shortfalls = async <S extends Spending>(spendings: readonly S[]): Promise<Shortfall<S>[]> => {
    const balances = await readBalances(
      spendings.map(({ owner, token }) => ({ chainId: token.chainId, owner, token })),
    );
    const held = await Promise.all(spendings.map((spending) => repository.held(fundsKeyOf(spending))));
    return spendings.flatMap((source, index) => {
      const missingBase = source.amountBase - ((balances[index] ?? 0n) - (held[index] ?? 0n));
      return missingBase > 0n ? [{ source, index, missingBase }] : [];
    });
  };

  /** @throws DomainError `insufficient_balance`, every source at fault named */
  const require = async (spendings: readonly Spending[]): Promise<void> => {
    const missing = await shortfalls(spendings);
    if (missing.length === 0) return;
    const details = missing.map(({ source, index, missingBase }) => ({
      path: `from.${String(index)}.amount`,
      message: `${formatAmount(missingBase, source.token.decimals)} ${source.token.symbol} are missing in ${source.owner}`,
    }));
    throw new DomainError("insufficient_balance", "A source wallet does not hold enough. Nothing was sent.", {
      details,
    });
  };

  return { read, shortfalls, require };
};

export type FundsService = ReturnType<typeof createFundsService>;
