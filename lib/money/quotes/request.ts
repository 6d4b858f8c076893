import { createHash } from "node:crypto";
import {
  DomainError,
  type ErrorCode,
  type ErrorDetail,
  invalidRequest,
  isDomainError,
} from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { Route } from "@/lib/money/ports/routing";
import type { RouteLimits, RouteRequest, RouteSource } from "@/lib/core/route-request";
import type { z } from "zod";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { quoteBody } from "@/lib/contracts/swap";
import { NOT_OF_PROJECT } from "./errors";
import { parseAmount } from "@/lib/core/money";
import type { RecipientsService } from "@/lib/trust/recipients/service";

const ID_DIGITS = 24;

const nameOf = ({ chainId, address }: Token): string =>
  `${String(chainId)}:${address.toLowerCase()}`;

/**
 * Identifies a route by the path of each source: provider, venues, pools and tokens. Amounts are
 * excluded, so the same path has the same id when it is priced again.
 */
export const routeIdOf = ({ legs }: Route): string => {
  const ways = legs.map(({ provider, kind, steps, way = "" }) => [
    ...[provider, kind, way],
    ...steps.map((step) => [step.kind, step.venue, nameOf(step.from), nameOf(step.to)]),
  ]);
  return `rt_${createHash("sha256").update(JSON.stringify(ways)).digest("hex").slice(0, ID_DIGITS)}`;
};

/**
 * Returns the route to execute and the alternatives, best first.
 * @param routes best first
 * @throws DomainError `no_route` when there is no route, or the route that the caller chose is
 * missing
 */
export const chooseRoute = (
  { routeId }: Pick<RouteRequest, "routeId">,
  routes: readonly Route[],
): { readonly route: Route; readonly others: readonly Route[] } => {
  const [best] = routes;
  if (best === undefined)
    throw new DomainError(
      "no_route",
      "No way was found from these sources to this token. Nothing was sent; choose other sources or another token.",
    );
  const route = routeId === undefined ? best : routes.find((one) => routeIdOf(one) === routeId);
  if (route !== undefined) return { route, others: routes.filter((one) => one !== route) };
  throw new DomainError(
    "no_route",
    "The chosen route is not offered for this amount any more. Nothing was sent. Ask for a new quote without `routeId`.",
  );
};

/**
 * A request with names of tokens and wallets. `minAmount` is a decimal amount of the destination's
 * token.
 */
export type QuoteInput = z.output<typeof quoteBody> & {
  readonly minAmount?: string | undefined;
};

export interface SourceWallet {
  readonly id: string;
  readonly kind: string;
  readonly address: string;
  readonly ownerAddress: string | null;
  readonly keyId: string | null;
  /**
   * The chain of the contract that signs for a linked wallet; null or absent when the wallet is not
   * a contract.
   */
  readonly contractChainId?: number | null;
}

export interface ResolvedRequest {
  readonly route: RouteRequest;
  /** The wallet of each source, in the order of the sources. */
  readonly wallets: readonly SourceWallet[];
}

export interface ResolveDeps {
  registry: ChainRegistry;
  wallets: { find(projectId: string, address: string): Promise<SourceWallet | null> };
  recipients: Pick<RecipientsService, "refusals" | "warnings">;
}

class Faults {
  private readonly details: (ErrorDetail & { code: ErrorCode })[] = [];

  add(path: string, code: ErrorCode, message: string): void {
    this.details.push({ path, code, message });
  }

  /** Records a DomainError of `work` as a fault of the field `path`. */
  catch<T>(path: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!isDomainError(error)) throw error;
      this.add(path, error.code, error.message);
      return undefined;
    }
  }

  /**
   * Throws when there are faults.
   * @throws DomainError listing all faults, with the code of the first fault
   */
  check(): void {
    const [first] = this.details;
    if (first === undefined) return;
    throw new DomainError(first.code, first.message, { details: this.details });
  }
}

/** The caller's field names for the parts of a request, for error details. */
export interface FieldNames {
  source(index: number): {
    whole: string;
    address: string;
    chainId: string;
    token: string;
    amount: string;
  };
  readonly toChainId: string;
  readonly toToken: string;
  readonly recipient: string;
  readonly minAmount: string;
}

export const QUOTE_FIELDS: FieldNames = {
  source: (index) => {
    const whole = `from.${String(index)}`;
    return {
      whole,
      address: `${whole}.address`,
      chainId: `${whole}.chainId`,
      token: `${whole}.token`,
      amount: `${whole}.amount`,
    };
  },
  toChainId: "toChainId",
  toToken: "toToken",
  recipient: "toAddress",
  minAmount: "minAmount",
};

const sourceKey = (source: RouteSource): string =>
  `${source.owner}:${String(source.token.chainId)}:${source.token.address}`.toLowerCase();

const resolveToken = (
  registry: ChainRegistry,
  faults: Faults,
  at: { chain: string; token: string },
  chainId: number,
  ref: string,
) => {
  if (faults.catch(at.chain, () => registry.get(chainId)) === undefined) return undefined;
  return faults.catch(at.token, () => registry.resolveToken(chainId, ref));
};

/**
 * Resolves names to tokens, wallets and base units. The error lists every wrong field.
 * @throws DomainError `invalid_request`, `unknown_wallet`, `unsupported_chain`,
 * `unsupported_token`, `amount_precision`
 */
export const resolveRequest = async (
  deps: ResolveDeps,
  projectId: string,
  input: QuoteInput,
  names: FieldNames = QUOTE_FIELDS,
): Promise<ResolvedRequest> => {
  const faults = new Faults();
  const found = await Promise.all(
    input.from.map((source) => deps.wallets.find(projectId, source.address)),
  );
  const sources = input.from.map((source, index) => {
    const path = names.source(index);
    if (found[index] === null) faults.add(path.address, "unknown_wallet", NOT_OF_PROJECT);
    const token = resolveToken(
      deps.registry,
      faults,
      { chain: path.chainId, token: path.token },
      source.chainId,
      source.token,
    );
    const amountBase =
      token &&
      faults.catch(path.amount, () => parseAmount(source.amount, token.decimals, path.amount));
    return token && amountBase !== undefined
      ? { owner: source.address, token, amountBase }
      : undefined;
  });
  const destination = resolveToken(
    deps.registry,
    faults,
    { chain: names.toChainId, token: names.toToken },
    input.toChainId,
    input.toToken,
  );
  if (destination) {
    const refused = deps.recipients.refusals([destination.chainId])(input.toAddress);
    if (refused !== null)
      faults.add(names.recipient, "invalid_request", `${input.toAddress} ${refused}.`);
  }
  checkDuplicates(faults, sources, names);
  const limits =
    destination && limitsOf(faults, input, { token: destination, path: names.minAmount });
  faults.check();
  const complete = sources.filter((source) => source !== undefined);
  const wallets = found.filter((wallet) => wallet !== null);
  if (!destination || complete.length !== input.from.length)
    throw invalidRequest([{ path: "from", message: "is not complete" }]);
  return {
    route: {
      sources: complete,
      destination: { token: destination, recipient: input.toAddress },
      slippageBps: input.slippageBps,
      ...(input.routeId === undefined ? {} : { routeId: input.routeId }),
      ...(limits === undefined ? {} : { limits }),
    },
    wallets,
  };
};

/**
 * Reads the caller's limits on the price; undefined when the caller sets none. Records an invalid
 * minimum as a fault.
 */
const limitsOf = (
  faults: Faults,
  { minAmount, maxPriceImpactBps }: QuoteInput,
  { token, path }: { readonly token: Token; readonly path: string },
): RouteLimits | undefined => {
  const minOutBase =
    minAmount === undefined
      ? undefined
      : faults.catch(path, () => parseAmount(minAmount, token.decimals, path));
  if (minOutBase === undefined && maxPriceImpactBps === undefined) return undefined;
  return {
    ...(minOutBase === undefined ? {} : { minOutBase }),
    ...(maxPriceImpactBps === undefined ? {} : { maxPriceImpactBps }),
  };
};

const checkDuplicates = (
  faults: Faults,
  sources: readonly (RouteSource | undefined)[],
  names: FieldNames,
): void => {
  const seen = new Set<string>();
  sources.forEach((source, index) => {
    if (source === undefined) return;
    const key = sourceKey(source);
    if (seen.has(key))
      faults.add(
        names.source(index).whole,
        "invalid_request",
        "The same source is named twice; add the amounts up instead.",
      );
    seen.add(key);
  });
};
