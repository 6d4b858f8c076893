import { DomainError } from "@/lib/core/errors";
import type {
  PrivacyEngine,
  PrivacyPool,
  PrivateHoldings,
  PrivateWalletKey,
} from "@/lib/money/ports/privacy";
import type { PrivacyRepository } from "./repository";
import { createHash } from "node:crypto";
import type { ChainRegistry } from "@/lib/chain/registry";
import { type Movement, requireUnfrozen, type TokenFreezes } from "@/lib/chain/token-freezes";
import type { Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { worthOf } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import { MOVEMENT_KINDS } from "@/lib/core/movement-kinds";
import type { Token } from "@/lib/core/token";
import type { Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import type { DecisionsService } from "@/lib/trust/decisions/service";
import type { SmartAccountsService } from "@/lib/chain/smart-accounts/service";
import {
  claimRetry,
  type OperationsService,
  retriedMeanwhile,
} from "@/lib/money/operations/service";
import type { CodeMeans, OtpService } from "@/lib/trust/proofs/service";
import {
  type Intent,
  type PoliciesService,
  type PolicyEngine,
  type RequiredApproval,
  votesOf,
} from "@/lib/trust/policies/service";
import type { RecipientsService } from "@/lib/trust/recipients/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import type { WalletsService } from "@/lib/trust/wallets/service";
import { TakenError, unknownPool } from "./errors";
import type { PrivateTransfer, PrivateWallet } from "./rows";
import type { PrivateWallets } from "./private-wallets";
import { titleAmount } from "@/lib/core/amount-text";

const notEnoughNumbers = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Too many deposits of this private wallet are under way. Nothing was sent; try again once some have ended.",
  );

/**
 * Assigns the deposit numbers of private wallets, from which the secrets of new notes are derived.
 * A number is reused when its operation ended without a deposit. A number that a scan by mnemonic
 * would not reach is not assigned, because money beyond such a gap would not be found.
 */
export const createDepositNumbers = (deps: {
  readonly repository: Pick<PrivacyRepository, "numbersInUse">;
  readonly holdings: (key: PrivateWalletKey, chainId: number) => Promise<PrivateHoldings>;
}) => ({
  /**
   * Returns free deposit numbers, the lowest first.
   * @throws DomainError `invalid_state` when too many deposits are open at once
   */
  free: async (
    own: {
      readonly projectId: string;
      readonly key: PrivateWalletKey;
      readonly pool: PrivacyPool;
    },
    count: number,
  ): Promise<number[]> => {
    const { key, pool, projectId } = own;
    // The numbers in use are read before the chain. When an operation ends between the two reads,
    // the chain shows its deposit, or its number stays unused until a later call.
    const used = await deps.repository.numbersInUse(projectId, key.id, {
      chainId: pool.chainId,
      pool: pool.address,
    });
    const { nextDepositIndex, depositIndexLimit } = await deps.holdings(key, pool.chainId);
    const next = nextDepositIndex.get(pool.address) ?? 0;
    const limit = depositIndexLimit.get(pool.address) ?? next;
    const free = Array.from(
      { length: Math.max(0, limit - next) },
      (_, index) => next + index,
    ).filter((number) => !used.has(number));
    if (free.length < count) throw notEnoughNumbers();
    return free.slice(0, count);
  },
});

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
  readonly recipients: Pick<RecipientsService, "require">;
  readonly decisions: Pick<DecisionsService, "open">;
  readonly policies: PoliciesService;
  readonly policyEngine: Pick<PolicyEngine, "checking" | "refuse">;
  readonly prices: {
    highestPriceUsd(
      tokens: readonly Token[],
      signal: AbortSignal,
    ): Promise<readonly (string | null)[]>;
  };
  readonly clock: Clock;
  /**
   * The smallest anonymity set that needs no confirmation. A transfer out of a pool with fewer
   * deposits needs the caller's confirmation.
   */
  readonly anonymitySetMin: number;
}

/** The amount's value in US dollars, rounded up; null when there is no price. */
const worthUsd = (
  amountBase: bigint,
  decimals: number,
  priceUsd: string | null | undefined,
): string | null => {
  if (priceUsd === null || priceUsd === undefined) return null;
  return formatAmount(
    worthOf({ amountBase, decimals, price: priceUsd }, USD_DECIMALS, "ceil"),
    USD_DECIMALS,
  );
};

/** SHA-256 of a value as JSON, with bigints as decimal strings. */
export const digestOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHash("sha256")
      .update(
        JSON.stringify(value, (_key, item: unknown) =>
          typeof item === "bigint" ? item.toString() : item,
        ),
      )
      .digest(),
  );

export const createPrivacyContext = (deps: PrivacyDeps) => {
  const { engine, registry, repository, policies, prices } = deps;

  /**
   * The privacy pool of a token on a chain.
   * @param path the request's field, named in the error
   * @throws DomainError `unsupported_chain`, `unsupported_token`, `unknown_pool`,
   * `chain_unavailable`
   */
  const poolOf = async (chainId: number, ref: string, path: string): Promise<PrivacyPool> => {
    const token = registry.resolveToken(chainId, ref);
    const pool = (await engine.pools(chainId)).find(
      (each) => each.token.address === token.address,
    );
    if (pool === undefined) throw unknownPool(token, path);
    return pool;
  };

  const holdings = (key: PrivateWalletKey, chainId: number): Promise<PrivateHoldings> =>
    engine.holdings(key, chainId, AbortSignal.timeout(READ_TIMEOUT_MS));

  const numbers = createDepositNumbers({ repository, holdings });

  /**
   * The number of deposits among which a withdrawal hides; null when the chain or the provider does
   * not answer.
   */
  const anonymitySetOf = async (
    wallet: PrivateWallet,
    pool: Pick<PrivacyPool, "chainId" | "address">,
  ) => {
    try {
      const { anonymitySet } = await holdings(deps.privateWallets.keyOf(wallet), pool.chainId);
      return anonymitySet.get(pool.address) ?? 0;
    } catch {
      return null;
    }
  };

  /**
   * Creates the function that decides whether the actor's policy allows the amount without a code,
   * and that counts the amount towards the policy's limits. It runs in the transaction that stores
   * the operation.
   */
  const admission = async (
    actor: Actor,
    token: Token,
    amountBase: bigint,
  ): Promise<(tx: Tx) => Promise<boolean>> => {
    if (policies.needsCode(actor)) return () => Promise.resolve(false);
    const [price] = await prices
      .highestPriceUsd([token], AbortSignal.timeout(PRICE_TIMEOUT_MS))
      .catch(() => [null]);
    const usd = worthUsd(amountBase, token.decimals, price);
    return (tx) => policies.spend(sqlOf(tx), actor, usd, deps.clock.now());
  };

  /**
   * Records that operation `by` retries operation `retryOf`.
   * @throws DomainError `invalid_state` when another operation already retries `retryOf`
   */
  const retryOnce = async (
    tx: Tx,
    { projectId, retryOf }: { readonly projectId: string; readonly retryOf: string | null },
    by: string,
  ): Promise<void> => {
    if (retryOf === null) return;
    const retry = { projectId, of: retryOf, by, now: deps.clock.now() };
    if (!(await claimRetry(sqlOf(tx), retry))) throw retriedMeanwhile();
  };

  return {
    ...deps,
    poolOf,
    holdings,
    anonymitySetOf,
    freeNumbers: numbers.free,
    admission,
    claimRetry: retryOnce,
  };
};

export type PrivacyContext = ReturnType<typeof createPrivacyContext>;

/**
 * Checks that no token issuer has frozen the treasury, the pool or the recipient of a private
 * operation.
 * @throws DomainError `wallet_frozen`, `recipient_frozen`
 */
export const requireUnfrozenMove = (
  { freezes }: PrivacyContext,
  move: Movement,
): Promise<void> =>
  requireUnfrozen(freezes, move, { source: () => "token", recipient: "toAddress" });

const TRIES_MAX = 5;

/**
 * Repeats the work with fresh reads when a concurrent operation was faster.
 * @throws TakenError after `TRIES_MAX` tries
 */
export const retryWhenTaken = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TakenError) || tries === TRIES_MAX) throw error;
    }
  }
};

// Private operations that wait for the votes of the project's people.

export const APPROVAL_SECONDS = 24 * 3600;

/** How a waiting operation was approved: with one person's code, or by votes. */
export type Consent =
  | { readonly means: CodeMeans; readonly codeId: string }
  | { readonly means: "votes"; readonly decisionId: string };

export const admissionOf = (consent: Consent) => ({
  hasCode: true,
  ...(consent.means === "votes" ? { decisionId: consent.decisionId } : {}),
});

/** How a request for votes identifies the operation. */
export const subjectOf = (operationId: string) => ({ type: "operation", id: operationId });

/**
 * The votes that an operation needs; null when one person's code suffices.
 * @throws PolicyViolationError when no vote would allow the operation
 */
export const votesFor = async (
  context: PrivacyContext,
  intent: Intent,
): Promise<RequiredApproval | null> => votesOf(await context.policyEngine.refuse(intent));

const titleOf = (
  { registry }: PrivacyContext,
  { kind, token, amountBase, chainId }: PrivateTransfer,
): string =>
  `${MOVEMENT_KINDS[kind].words} of ${titleAmount(amountBase, token)} on ${registry.get(chainId).name}`;

/**
 * Requests votes in the transaction that stores the operation.
 * @param lines the approved values in words
 */
export const askForVotes = async (
  context: PrivacyContext,
  tx: Tx,
  maker: Actor,
  {
    transfer,
    lines,
    required,
  }: {
    readonly transfer: PrivateTransfer;
    readonly lines: readonly string[];
    readonly required: RequiredApproval | null;
  },
): Promise<void> => {
  if (required === null) return;
  const { projectId, operationId, digest } = transfer;
  await context.decisions.open(tx, {
    projectId,
    subject: subjectOf(operationId),
    digest,
    title: titleOf(context, transfer),
    lines,
    maker,
    required,
    expiresAt: addSeconds(context.clock.now(), APPROVAL_SECONDS),
    private: true,
  });
};
