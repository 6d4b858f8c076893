/**
 * Plans how to bring money of the project to a payout's chain when the treasury lacks a part there.
 */
import { DomainError, invalidRequest, isDomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Wallet } from "@/lib/trust/wallets/service";
import type { RouteRequest, RouteSource } from "@/lib/core/route-request";
import type { PayoutsContext } from "../context";
import type { WalletsRequest } from "./request";
import type { Funding, FundFrom } from "./wallet-payout";

interface Candidate {
  readonly wallet: Wallet;
  readonly token: Token;
  readonly availableBase: bigint;
}

export interface FundingPlan {
  readonly request: RouteRequest;
  /** The wallet of each source, in the order of `request.sources`. */
  readonly wallets: readonly Wallet[];
  readonly funding: Omit<Funding, "quoteId">;
}

const SOURCES_MAX = 10;
const SLIPPAGE_BPS = 50;
/**
 * Percentage to which the needed part of a balance is raised. Fixed fees make a part of the balance
 * bring less per unit than the whole balance, so the exact part would not bring enough.
 */
const MARGIN_PERCENT = 102n;
const TRIES_MAX = 4;

const named = (index: number, field: string): string => `fundFrom.${String(index)}.${field}`;

const treasuryWallet = async (
  context: PayoutsContext,
  projectId: string,
  { treasury }: WalletsRequest,
): Promise<Wallet> => {
  const wallet = await context.wallets.findById(projectId, treasury.id);
  if (wallet === null) throw new Error("The treasury is no wallet of the project.");
  return wallet;
};

/**
 * Reads the sources that the request names.
 * @throws DomainError `invalid_request`, `unsupported_chain`, `unsupported_token` naming the source
 */
const namedSources = async (
  context: PayoutsContext,
  projectId: string,
  sources: Exclude<FundFrom, "auto">,
  treasury: Wallet,
): Promise<{ wallet: Wallet; token: Token }[]> =>
  Promise.all(
    sources.map(async ({ walletId, chainId, token: ref }, index) => {
      const wallet =
        walletId === undefined ? treasury : await context.wallets.findById(projectId, walletId);
      if (wallet === null || wallet.keyId === null) {
        const message = "is no wallet for which the service signs, so it cannot send by itself";
        throw invalidRequest([{ path: named(index, "walletId"), message }]);
      }
      try {
        return { wallet, token: context.registry.resolveToken(chainId, ref) };
      } catch (error) {
        if (!isDomainError(error)) throw error;
        const { code, message } = error;
        const field = code === "unsupported_chain" ? "chainId" : "token";
        throw new DomainError(code, message, {
          details: [{ path: named(index, field), message, code }],
        });
      }
    }),
  );

/**
 * Returns the sources for `fundFrom: "auto"`: first the same asset on other chains, then other
 * assets. Leaves out tokens that the payout pays, and native coins of other assets.
 */
const automatic = (
  context: PayoutsContext,
  wallet: Wallet,
  { totals }: WalletsRequest,
  missing: Token,
): { wallet: Wallet; token: Token }[] => {
  const paid = new Set(totals.map(({ token }) => `${String(token.chainId)}:${token.address}`));
  const others = context.registry
    .tokens()
    .filter((token) => !paid.has(`${String(token.chainId)}:${token.address}`));
  const same = others.filter(({ assetId }) => assetId === missing.assetId);
  const swapped = others.filter(
    (token) => token.assetId !== missing.assetId && token.address !== "native",
  );
  return [...same, ...swapped].map((token) => ({ wallet, token }));
};

const withBalances = async (
  context: PayoutsContext,
  places: readonly { wallet: Wallet; token: Token }[],
): Promise<Candidate[]> => {
  const amounts = await context.holds.available(
    places.map(({ wallet, token }) => ({ owner: wallet.address, token })),
  );
  return places
    .map((place, index) => ({ ...place, availableBase: amounts[index] ?? 0n }))
    .filter(({ availableBase }) => availableBase > 0n);
};

const requestOf = (
  request: WalletsRequest,
  token: Token,
  sources: readonly RouteSource[],
): RouteRequest => ({
  sources: [...sources],
  destination: { token, recipient: request.treasury.address },
  slippageBps: SLIPPAGE_BPS,
});

const sourceOf = ({ wallet, token }: Candidate, amountBase: bigint): RouteSource => ({
  owner: wallet.address,
  token,
  amountBase,
});

/**
 * Returns the minimum that arrives when only this source pays, in base units; 0 when there is no
 * route or too little liquidity.
 */
const bringsOf = (
  context: PayoutsContext,
  request: WalletsRequest,
  token: Token,
  source: RouteSource,
): Promise<bigint> =>
  context.funding.minimumOf(requestOf(request, token, [source])).catch((error: unknown) => {
    if (
      isDomainError(error) &&
      (error.code === "no_route" || error.code === "insufficient_liquidity")
    )
      return 0n;
    throw error;
  });

interface Choice {
  readonly chosen: readonly Candidate[];
  readonly amounts: readonly bigint[];
  /**
   * The amount of the missing token that the full balance of the last candidate brings, in base
   * units; above 0.
   */
  readonly lastBrings: bigint;
}

/**
 * Uses the full balances of the candidates, in their order, until the missing amount is covered,
 * but only the needed part of the last candidate. Null when all candidates are not enough.
 */
const choose = async (
  context: PayoutsContext,
  request: WalletsRequest,
  token: Token,
  { candidates, missingBase }: { candidates: readonly Candidate[]; missingBase: bigint },
): Promise<Choice | null> => {
  const chosen: Candidate[] = [];
  const amounts: bigint[] = [];
  let left = missingBase;
  for (const candidate of candidates.slice(0, 4 * SOURCES_MAX)) {
    if (chosen.length >= SOURCES_MAX) break;
    const { availableBase } = candidate;
    const brings = await bringsOf(context, request, token, sourceOf(candidate, availableBase));
    if (brings <= 0n) continue;
    const share =
      brings > left
        ? (availableBase * left * MARGIN_PERCENT) / (brings * 100n) + 1n
        : availableBase;
    chosen.push(candidate);
    amounts.push(share < availableBase ? share : availableBase);
    left -= brings;
    if (left <= 0n) return { chosen, amounts, lastBrings: brings };
  }
  return null;
};

/**
 * Prices the chosen sources in one route, and raises the last amount until enough arrives. Null
 * when the full balance of the last source is not enough, or after `TRIES_MAX` tries.
 */
const priced = async (
  context: PayoutsContext,
  request: WalletsRequest,
  token: Token,
  { chosen, amounts, lastBrings, missingBase }: Choice & { readonly missingBase: bigint },
) => {
  const last = chosen.length - 1;
  const most = chosen[last]?.availableBase ?? 0n;
  let amount = amounts[last] ?? 0n;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const sources = chosen.map((each, index) =>
      sourceOf(each, index === last ? amount : (amounts[index] ?? 0n)),
    );
    const route = requestOf(request, token, sources);
    const wallets = chosen.map(({ wallet }) => wallet);
    const found = await context.funding.price(route, wallets);
    if (found.minimumBase >= missingBase) return { request: route, wallets, ...found };
    if (amount >= most) return null;
    // The amount of this try already covers the fixed fees, so a further unit brings at least as
    // much as the average unit of the full balance.
    const lack = missingBase - found.minimumBase;
    const raised = amount + (lack * most * MARGIN_PERCENT) / (lastBrings * 100n) + 1n;
    amount = raised < most ? raised : most;
  }
  return null;
};

const notEnough = (
  context: PayoutsContext,
  missing: Token,
  missingBase: bigint,
): DomainError => {
  const { name } = context.registry.get(missing.chainId);
  const message = `${formatAmount(missingBase, missing.decimals)} ${missing.symbol} are missing in the treasury on ${name}, and its other chains cannot bring them. Nothing was paid.`;
  return new DomainError("insufficient_balance", message, {
    details: [{ path: "fundFrom", message, code: "insufficient_balance" }],
  });
};

/**
 * Chooses and prices the sources that cover a missing amount.
 * @throws DomainError `insufficient_balance` when all sources are not enough, `no_route`,
 * `insufficient_liquidity`, `invalid_request`, `chain_unavailable`
 */
export const planFunding = async (
  context: PayoutsContext,
  projectId: string,
  request: WalletsRequest,
  { token, missingBase }: { token: Token; missingBase: bigint },
): Promise<FundingPlan> => {
  const { fundFrom } = request;
  if (fundFrom === null) throw new Error("The payout names no sources.");
  const treasury = await treasuryWallet(context, projectId, request);
  const places =
    fundFrom === "auto"
      ? automatic(context, treasury, request, token)
      : await namedSources(context, projectId, fundFrom, treasury);
  const candidates = await withBalances(context, places);
  const choice = await choose(context, request, token, { candidates, missingBase });
  const found =
    choice === null ? null : await priced(context, request, token, { ...choice, missingBase });
  if (found === null) throw notEnough(context, token, missingBase);
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
