import type { ChainRegistry } from "@/lib/chain/registry";
import type { TokenFreezes } from "@/lib/chain/token-freezes";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { SmartAccountsService, Watched } from "@/lib/chain/smart-accounts/service";
import type { GasCost, SponsorshipService } from "@/lib/books/sponsorship/service";
import type { UserOperation, UserOperationGas } from "@/lib/chain/ports/bundler";
import type { LegTransactions, RouteLeg, Routing } from "@/lib/money/ports/routing";
import type { RouteRequest, RouteSource } from "@/lib/core/route-request";
import type { PreparedLeg, SourceWallet } from "@/lib/money/quotes/service";

export interface SimulationDeps {
  registry: ChainRegistry;
  routing: Routing;
  freezes: Pick<TokenFreezes, "areFrozen">;
  smartAccounts: SmartAccountsService;
  sponsorship: Pick<
    SponsorshipService,
    "checkGas" | "checkTransactionGas" | "check" | "costsOf"
  >;
  wallets: {
    find(projectId: string, address: string): Promise<SourceWallet | null>;
    treasury(projectId: string): Promise<SourceWallet | null>;
  };
}

export interface LegInput {
  readonly projectId: string;
  readonly kind: string;
  readonly request: RouteRequest;
  /** The wallet of each source, in the order of the sources. */
  readonly wallets: readonly SourceWallet[];
  readonly leg: RouteLeg;
  /**
   * The leg's id from an earlier preparation of the quote. Both preparations then have the same
   * nonce, so at most one of them can be executed.
   */
  readonly legId: string | undefined;
  /**
   * Whether the leg may deploy its account. When several legs use one account on one chain, only
   * the first of these legs may deploy it.
   */
  readonly deploys: boolean;
  readonly signal: AbortSignal;
}

export interface SimulatedChange {
  readonly wallet: string;
  readonly token: Token;
  readonly base: bigint;
  readonly certainty: "simulated" | "expected";
}

export interface LegSimulation {
  readonly prepared: PreparedLeg;
  readonly changes: readonly SimulatedChange[];
  /** Maximum cost of the leg for the sponsor; null when the wallet or account pays the fee. */
  readonly cost: GasCost | null;
}

export interface Context extends LegInput {
  readonly source: RouteSource;
  readonly wallet: SourceWallet;
  readonly legId: string;
  readonly chainId: number;
  /**
   * The balances whose changes the simulation reports: the source's balance and, when the leg ends
   * on the same chain, the recipient's balance.
   */
  readonly watched: readonly Watched[];
}

type Address = `0x${string}`;

const isSame = (one: Address, other: Address): boolean =>
  one.toLowerCase() === other.toLowerCase();

export const contextOf = (input: LegInput): Context => {
  const { request, leg } = input;
  const source = request.sources[leg.sourceIndex];
  const wallet = input.wallets[leg.sourceIndex];
  if (!source || !wallet) throw new Error("A leg names a source that was not asked for.");
  const { token, recipient } = request.destination;
  const watched: Watched[] = [{ owner: source.owner, token: source.token }];
  if (leg.kind !== "bridge") watched.push({ owner: recipient, token });
  return {
    ...input,
    source,
    wallet,
    legId: input.legId ?? newId("leg"),
    chainId: source.token.chainId,
    watched,
  };
};

/**
 * Checks the received amount of a transfer by balances and not by return values, because some
 * tokens return false, nothing, or true without moving anything. Native coins count as delivered
 * when their call succeeds in the simulation. Their balance is not compared, because a contract as
 * recipient may forward them immediately, as deposit addresses of exchanges do.
 */
const checkArrival = ({ source, leg, request }: Context, gain: bigint): void => {
  const { token, recipient } = request.destination;
  const isOwn = isSame(source.owner, recipient);
  if (leg.kind !== "transfer" || token.address === "native" || isOwn || gain >= leg.minOutBase)
    return;
  const arrives =
    gain <= 0n ? "nothing" : `only ${formatAmount(gain, token.decimals)} ${token.symbol}`;
  throw new DomainError(
    "simulation_failed",
    `The transfer was tried, and ${arrives} would arrive: that is how the contract of ${token.symbol} does it. Nothing was sent.`,
  );
};

export const changesOf = (context: Context, changes: readonly bigint[]): SimulatedChange[] => {
  const { source, leg, request } = context;
  const { token, recipient } = request.destination;
  checkArrival(context, changes[1] ?? 0n);
  const spent = {
    wallet: source.owner,
    token: source.token,
    base: changes[0] ?? 0n,
    certainty: "simulated" as const,
  };
  const gain = changes[1] ?? 0n;
  // The balance of a recipient that forwards coins does not show the received amount.
  const isPassedOn =
    token.address === "native" && gain < leg.minOutBase && !isSame(source.owner, recipient);
  const arrives =
    leg.kind === "bridge" || isPassedOn
      ? { wallet: recipient, token, base: leg.expectedOutBase, certainty: "expected" as const }
      : { wallet: recipient, token, base: gain, certainty: "simulated" as const };
  return [spent, arrives];
};

/**
 * Maximum cost for the sponsor of a user operation of the leg; null when the account pays.
 * @throws DomainError `sponsor_budget_exceeded` above the gas ceiling, `simulation_failed` above
 * the gas limit of a transaction
 */
export const gasCostOf = async (
  { sponsorship }: SimulationDeps,
  { legId, chainId, leg }: Context,
  made: { readonly gas: UserOperationGas; readonly operation?: UserOperation },
): Promise<GasCost | null> => {
  sponsorship.checkGas({ chainId, kind: leg.kind, gas: made.gas });
  const [cost] = await sponsorship.costsOf([{ legId, chainId, ...made }]);
  return cost ?? null;
};

export const smartAccountOf = ({
  address,
  ownerAddress,
}: SourceWallet): { address: Address; ownerAddress: Address } => {
  if (ownerAddress === null)
    throw new DomainError(
      "invalid_state",
      "This wallet is not a smart account. Nothing was sent; name a wallet of GET /wallets that is one.",
    );
  return { address: address as Address, ownerAddress: ownerAddress as Address };
};

export const describe = (
  { leg, source, request }: Context,
  registry: ChainRegistry,
): string => {
  const { token, recipient } = request.destination;
  const amount = `${formatAmount(source.amountBase, source.token.decimals)} ${source.token.symbol}`;
  const [from, to] = [
    registry.get(source.token.chainId).name,
    registry.get(token.chainId).name,
  ];
  switch (leg.kind) {
    case "transfer":
      return `Send ${amount} on ${from} to ${recipient}`;
    case "swap":
      return `Swap ${amount} to ${token.symbol} on ${from} for ${recipient}`;
    case "bridge":
      return `Send ${amount} from ${from} as ${token.symbol} to ${recipient} on ${to}`;
  }
};

export const build = (
  deps: SimulationDeps,
  { request, leg, signal }: Context,
  executor?: Address,
): Promise<LegTransactions> =>
  deps.routing.build(request, leg, signal, executor === undefined ? {} : { executor });
