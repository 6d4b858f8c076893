import { createHash } from "node:crypto";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { TokenFreezes } from "@/lib/chains/token-freezes";
import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { worthOf } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Tx } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import type { DecisionsService } from "@/lib/modules/decisions/service";
import type { SmartAccountsService } from "@/lib/modules/smart-accounts/service";
import { retriedMeanwhile, type OperationsService } from "@/lib/modules/operations/service";
import type { OtpService } from "@/lib/modules/otp/service";
import type { PolicyEngine, PoliciesService } from "@/lib/modules/policies/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { WalletsService } from "@/lib/modules/wallets/service";
import type { PrivacyEngine, PrivacyPool, PrivateHoldings, PrivateWalletKey } from "@/lib/ports/privacy";
import { createDepositNumbers } from "./deposit-numbers";
import { unknownPool } from "./errors";
import type { PrivateWallet } from "./private-wallet";
import type { PrivateWallets } from "./private-wallets";
import type { PrivacyRepository } from "./repository";

const PRICE_TIMEOUT_MS = 5_000;
const USD_DECIMALS = 6;
const READ_TIMEOUT_MS = 30_000;

export interface PrivacyDeps {
  readonly repository: PrivacyRepository;
  readonly privateWallets: PrivateWallets;
  readonly engine: PrivacyEngine;
  readonly registry: ChainRegistry;
  readonly wallets: Pick<WalletsService, "treasury">;
  readonly smartAccounts: SmartAccountsService;
  readonly operations: OperationsService;
  readonly sponsorship: Pick<SponsorshipService, "checkGas">;
  readonly otp: OtpService;
  readonly freezes: Pick<TokenFreezes, "areFrozen">;
  readonly decisions: Pick<DecisionsService, "open" | "refuseCode" | "requirementOf">;
  readonly policies: PoliciesService;
  readonly policyEngine: Pick<PolicyEngine, "checking" | "refuse">;
  readonly prices: {
    highestPriceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
  };
  readonly clock: Clock;
  /** Deposits in a set; a transfer in a smaller set has to be confirmed. */
  readonly anonymitySetMin: number;
}

/** The exact product, rounded up; null without a price. */
const worthUsd = (amountBase: bigint, decimals: number, priceUsd: string | null | undefined): string | null => {
  if (priceUsd === null || priceUsd === undefined) return null;
  return formatAmount(worthOf({ amountBase, decimals, price: priceUsd }, USD_DECIMALS, "ceil"), USD_DECIMALS);
};

/** SHA-256 of a value as JSON, with bigints as decimal strings. */
export const digestOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHash("sha256")
      .update(JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? item.toString() : item)))
      .digest(),
  );

/** Dependencies and reads that all private operations share. */
export const createPrivacyContext = (deps: PrivacyDeps) => {
  const { engine, registry, repository, policies, prices } = deps;

  /** @throws DomainError `unsupported_chain`, `unsupported_token`, `unknown_pool`, `chain_unavailable` */
  const poolOf = async (chainId: number, ref: string, path: string): Promise<PrivacyPool> => {
    const token = registry.resolveToken(chainId, ref);
    const pool = (await engine.pools(chainId)).find((each) => each.token.address === token.address);
    if (pool === undefined) throw unknownPool(token, path);
    return pool;
  };

  const holdings = (key: PrivateWalletKey, chainId: number): Promise<PrivateHoldings> =>
    engine.holdings(key, chainId, AbortSignal.timeout(READ_TIMEOUT_MS));

  const numbers = createDepositNumbers({ repository, holdings });

  /** How many deposits a withdrawal hides among now; null when the chain or the provider does not answer. */
  const anonymitySetOf = async (wallet: PrivateWallet, pool: Pick<PrivacyPool, "chainId" | "address">) => {
    try {
      const { anonymitySet } = await holdings(deps.privateWallets.keyOf(wallet), pool.chainId);
      return anonymitySet.get(pool.address) ?? 0;
    } catch {
      return null;
    }
  };

  /** Decides, in the transaction that stores an operation, whether the actor's policy allows the amount without a code. */
  const admission = async (actor: Actor, token: Token, amountBase: bigint): Promise<(tx: Tx) => Promise<boolean>> => {
    if (policies.needsCode(actor)) return () => Promise.resolve(false);
    const [price] = await prices.highestPriceUsd([token], AbortSignal.timeout(PRICE_TIMEOUT_MS)).catch(() => [null]);
    const usd = worthUsd(amountBase, token.decimals, price);
    return (tx) => policies.spend(sqlOf(tx), actor, usd, deps.clock.now());
  };

  /** Records that the operation `by` retries `retryOf`, once. @throws DomainError `invalid_state` when another operation retries it */
  const claimRetry = async (
    tx: Tx,
    { projectId, retryOf }: { readonly projectId: string; readonly retryOf: string | null },
    by: string,
  ): Promise<void> => {
    if (retryOf === null) return;
    if (!(await deps.operations.claimRetry(tx, { projectId, of: retryOf, by, now: deps.clock.now() })))
      throw retriedMeanwhile();
  };

  return { ...deps, poolOf, holdings, anonymitySetOf, freeNumbers: numbers.free, admission, claimRetry };
};

export type PrivacyContext = ReturnType<typeof createPrivacyContext>;
