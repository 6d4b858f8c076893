/** Plans how to bring the treasury's money from other chains when the payout's chain lacks a part. */
import type { ChainRegistry } from "@/lib/chains/registry";
import { DomainError, invalidRequest, isDomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { HoldsService } from "@/lib/modules/holds/service";
import type { FundingService } from "@/lib/modules/swaps/service";
import type { Wallet, WalletsService } from "@/lib/modules/wallets/service";
import type { RouteRequest, RouteSource } from "@/lib/ports/routing";
import type { PayoutRequest } from "./request";
import type { Funding, FundFrom } from "./wallet-payout";

export interface FundingDeps {
  readonly registry: ChainRegistry;
  readonly holds: Pick<HoldsService, "available">;
  readonly wallets: Pick<WalletsService, "findById">;
  readonly funding: Pick<FundingService, "minimumOf" | "price" | "store">;
}

/** A source of money on another chain, and its available balance. */
interface Candidate {
  readonly wallet: Wallet;
  readonly token: Token;
  readonly availableBase: bigint;
}

export interface FundingPlan {
  readonly request: RouteRequest;
  /** The wallet of each source, in the order of the sources. */
  readonly wallets: readonly Wallet[];
  readonly funding: Omit<Funding, "quoteId">;
}

const SOURCES_MAX = 10;
const SLIPPAGE_BPS = 50;
/** A part of a balance is raised to this percentage, because a smaller amount pays the same fixed fees. */
const MARGIN_PERCENT = 102n;
const TRIES_MAX = 4;

const named = (index: number, field: string): string => `fundFrom.${String(index)}.${field}`;

const treasuryWallet = async (deps: FundingDeps, projectId: string, { treasury }: PayoutRequest): Promise<Wallet> => {
  const wallet = await deps.wallets.findById(projectId, treasury.id);
  if (wallet === null) throw new Error("The treasury is no wallet of the project.");
  return wallet;
};

/** The candidates that the request names. @throws DomainError `invalid_request`, `unsupported_chain`, `unsupported_token` naming the source */
const namedSources = async (
  deps: FundingDeps,
  projectId: string,
  sources: Exclude<FundFrom, "auto">,
  treasury: Wallet,
): Promise<{ wallet: Wallet; token: Token }[]> =>
  Promise.all(
    sources.map(async ({ walletId, chainId, token: ref }, index) => {
      const wallet = walletId === undefined ? treasury : await deps.wallets.findById(projectId, walletId);
      if (wallet === null || wallet.keyId === null) {
        const message = "is no wallet for which the service signs, so it cannot send by itself";
        throw invalidRequest([{ path: named(index, "walletId"), message }]);
      }
      try {
        return { wallet, token: deps.registry.resolveToken(chainId, ref) };
      } catch (error) {
        if (!isDomainError(error)) throw error;
        const { code, message } = error;
        const field = code === "unsupported_chain" ? "chainId" : "token";
        throw new DomainError(code, message, { details: [{ path: named(index, field), message, code }] });
      }
    }),
  );

/** Candidates for `auto`: the same asset on other chains first, then other tokens. Excludes tokens of the payout, and coins. */
const automatic = (
  deps: FundingDeps,
  wallet: Wallet,
  { totals }: PayoutRequest,
  missing: Token,
): { wallet: Wallet; token: Token }[] => {
  const paid = new Set(totals.map(({ token }) => `${String(token.chainId)}:${token.address}`));
  const others = deps.registry.tokens().filter((token) => !paid.has(`${String(token.chainId)}:${token.address}`));
  const same = others.filter(({ assetId }) => assetId === missing.assetId);
  const swapped = others.filter((token) => token.assetId !== missing.assetId && token.address !== "native");
  return [...same, ...swapped].map((token) => ({ wallet, token }));
};

const withBalances = async (
  deps: FundingDeps,
  places: readonly { wallet: Wallet; token: Token }[],
): Promise<Candidate[]> => {
  const amounts = await deps.holds.available(places.map(({ wallet, token }) => ({ owner: wallet.address, token })));
  return places
    .map((place, index) => ({ ...place, availableBase: amounts[index] ?? 0n }))
    .filter(({ availableBase }) => availableBase > 0n);
};

const requestOf = (request: PayoutRequest, token: Token, sources: readonly RouteSource[]): RouteRequest => ({
  sources: [...sources],
  destination: { token, recipient: request.treasury.address },
  slippageBps: SLIPPAGE_BPS,
});

const sourceOf = ({ wallet, token }: Candidate, amountBase: bigint): RouteSource => ({
  owner: wallet.address,
  token,
  amountBase,
});

/** The minimum that arrives when this source alone pays, in base units; 0 when no route exists. */
const bringsOf = (deps: FundingDeps, request: PayoutRequest, token: Token, source: RouteSource): Promise<bigint> =>
  deps.funding.minimumOf(requestOf(request, token, [source])).catch((error: unknown) => {
    if (isDomainError(error) && (error.code === "no_route" || error.code === "insufficient_liquidity")) return 0n;
    throw error;
  });

interface Choice {
  readonly chosen: readonly Candidate[];
  readonly amounts: readonly bigint[];
  /** The amount that the whole balance of the last candidate brings; above zero. */
  readonly lastBrings: bigint;
}

/** Takes whole balances of the candidates, in order, until the missing amount is covered; of the last candidate only the needed part. */
const choose = async (
  deps: FundingDeps,
  request: PayoutRequest,
  token: Token,
  { candidates, missingBase }: { candidates: readonly Candidate[]; missingBase: bigint },
): Promise<Choice | null> => {
  const chosen: Candidate[] = [];
  const amounts: bigint[] = [];
  let left = missingBase;
  for (const candidate of candidates.slice(0, 4 * SOURCES_MAX)) {
    if (chosen.length >= SOURCES_MAX) break;
    const { availableBase } = candidate;
    const brings = await bringsOf(deps, request, token, sourceOf(candidate, availableBase));
    if (brings <= 0n) continue;
    const share = brings > left ? (availableBase * left * MARGIN_PERCENT) / (brings * 100n) + 1n : availableBase;
    chosen.push(candidate);
    amounts.push(share < availableBase ? share : availableBase);
    left -= brings;
    if (left <= 0n) return { chosen, amounts, lastBrings: brings };
  }
  return null;
};

/** Prices the chosen sources together, and raises the last amount until enough arrives. Null when its whole balance is not enough. */
const priced = async (
  deps: FundingDeps,
  request: PayoutRequest,
  token: Token,
  { chosen, amounts, lastBrings, missingBase }: Choice & { readonly missingBase: bigint },
) => {
  const last = chosen.length - 1;
  const most = chosen[last]?.availableBase ?? 0n;
  let amount = amounts[last] ?? 0n;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const sources = chosen.map((each, index) => sourceOf(each, index === last ? amount : (amounts[index] ?? 0n)));
    const route = requestOf(request, token, sources);
    const wallets = chosen.map(({ wallet }) => wallet);
    const found = await deps.funding.price(route, wallets);
    if (found.minimumBase >= missingBase) return { request: route, wallets, ...found };
    if (amount >= most) return null;
    // Fixed fees are paid already, so each further unit brings at least what a unit of the whole balance brings.
    const lack = missingBase - found.minimumBase;
    const raised = amount + (lack * most * MARGIN_PERCENT) / (lastBrings * 100n) + 1n;
    amount = raised < most ? raised : most;
  }
  return null;
};

const notEnough = (deps: FundingDeps, missing: Token, missingBase: bigint): DomainError => {
  const { name } = deps.registry.get(missing.chainId);
  const message = `${formatAmount(missingBase, missing.decimals)} ${missing.symbol} are missing in the treasury on ${name}, and its other chains cannot bring them. Nothing was paid.`;
  return new DomainError("insufficient_balance", message, {
    details: [{ path: "fundFrom", message, code: "insufficient_balance" }],
  });
};

/**
 * Chooses and prices the sources that cover a missing amount.
 * @throws DomainError `insufficient_balance` when all sources together do not suffice, `no_route`, `insufficient_liquidity`,
 * `invalid_request`, `chain_unavailable`
 */
export const planFunding = async (
  deps: FundingDeps,
  projectId: string,
  request: PayoutRequest,
  { token, missingBase }: { token: Token; missingBase: bigint },
): Promise<FundingPlan> => {
  const { fundFrom } = request;
  if (fundFrom === null) throw new Error("The payout names no sources.");
  const treasury = await treasuryWallet(deps, projectId, request);
  const places =
    fundFrom === "auto"
      ? automatic(deps, treasury, request, token)
      : await namedSources(deps, projectId, fundFrom, treasury);
  const candidates = await withBalances(deps, places);
  const choice = await choose(deps, request, token, { candidates, missingBase });
  const found = choice === null ? null : await priced(deps, request, token, { ...choice, missingBase });
  if (found === null) throw notEnough(deps, token, missingBase);
  const { fees, estimatedSeconds } = found.record;
  return {
    request: found.request,
    wallets: found.wallets,
    funding: {
      token,
      missingBase,
      minimumBase: found.minimumBase,
      sources: found.request.sources.map((source, index) => ({
        walletId: found.wallets[index]?.id ?? treasury.id,
        token: source.token,
        amountBase: source.amountBase,
      })),
      fees,
      estimatedSeconds,
    },
  };
};
