import type { z } from "zod";
import type { balanceChange } from "@/lib/contracts/swap";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { AccountsService, ManagedAccount, Watched } from "@/lib/modules/accounts/service";
import type { UserOperationGas } from "@/lib/ports/bundler";
import type { Route, RouteLeg, RouteRequest, RoutingProvider } from "@/lib/ports/routing";
import { expectedOut, toTokenRecord } from "./record";
import type { SourceWallet } from "./request";

type BalanceChange = z.output<typeof balanceChange>;

export interface PreparedLeg {
  readonly legId: string;
  readonly gas: UserOperationGas;
}

export interface SimulationDeps {
  routing: RoutingProvider;
  accounts: AccountsService;
}

/**
 * The same route with minima that add up to at least `minimumBase`: what was promised stays promised when the route is priced
 * anew. Each leg's share is rounded up and never above what it is expected to bring. Null when the route no longer brings it.
 */
export const withMinimum = (route: Route, minimumBase: bigint): Route | null => {
  const total = expectedOut(route);
  if (total < minimumBase || total === 0n) return null;
  const legs = route.legs.map((leg): RouteLeg => {
    const share = (minimumBase * leg.expectedOutBase + total - 1n) / total;
    return { ...leg, minOutBase: share > leg.minOutBase ? share : leg.minOutBase };
  });
  return { ...route, legs };
};

const changeRecord = (
  wallet: string,
  token: Token,
  base: bigint,
  certainty: BalanceChange["certainty"],
): BalanceChange => ({
  walletAddress: wallet as BalanceChange["walletAddress"],
  chainId: token.chainId,
  token: toTokenRecord(token),
  change: `${base > 0n ? "+" : ""}${formatAmount(base, token.decimals)}`,
  certainty,
});

const managed = (projectId: string, wallet: SourceWallet): ManagedAccount => {
  if (wallet.keyId === null || wallet.ownerAddress === null) {
    throw new DomainError("invalid_state", "This wallet signs for itself; the service holds no key of it.");
  }
  return {
    projectId,
    address: wallet.address as ManagedAccount["address"],
    ownerAddress: wallet.ownerAddress as ManagedAccount["ownerAddress"],
    keyId: wallet.keyId,
  };
};

interface LegSimulation {
  readonly prepared: PreparedLeg;
  readonly changes: readonly { wallet: string; token: Token; base: bigint; certainty: BalanceChange["certainty"] }[];
}

const simulateLeg = async (
  deps: SimulationDeps,
  input: {
    projectId: string;
    request: RouteRequest;
    wallets: readonly SourceWallet[];
    leg: RouteLeg;
    signal: AbortSignal;
  },
): Promise<LegSimulation> => {
  const { request, leg } = input;
  const source = request.sources[leg.sourceIndex];
  const wallet = input.wallets[leg.sourceIndex];
  if (!source || !wallet) throw new Error("A leg names a source that was not asked for.");
  const legId = newId("leg");
  const built = await deps.routing.build(request, leg, input.signal);
  const { token, recipient } = request.destination;
  const watched: Watched[] = [{ owner: source.owner, token: source.token }];
  if (leg.kind !== "bridge") watched.push({ owner: recipient, token });
  const { gas, changes } = await deps.accounts.simulate(
    { account: managed(input.projectId, wallet), chainId: source.token.chainId, legId, calls: built.calls },
    watched,
  );
  const arrives =
    leg.kind === "bridge"
      ? { wallet: recipient, token, base: leg.expectedOutBase, certainty: "expected" as const }
      : { wallet: recipient, token, base: changes[1] ?? 0n, certainty: "simulated" as const };
  return {
    prepared: { legId, gas },
    changes: [{ wallet: source.owner, token: source.token, base: changes[0] ?? 0n, certainty: "simulated" }, arrives],
  };
};

/**
 * Builds and simulates every leg against the chains as they are now.
 * @throws DomainError `simulation_failed`, `chain_unavailable`
 */
export const simulateRoute = async (
  deps: SimulationDeps,
  input: {
    projectId: string;
    request: RouteRequest;
    wallets: readonly SourceWallet[];
    route: Route;
    signal: AbortSignal;
  },
): Promise<{ legs: PreparedLeg[]; balanceChanges: BalanceChange[] }> => {
  const simulations = await Promise.all(input.route.legs.map((leg) => simulateLeg(deps, { ...input, leg })));
  const merged = new Map<string, LegSimulation["changes"][number]>();
  for (const change of simulations.flatMap((simulation) => simulation.changes)) {
    const key = `${change.wallet}:${String(change.token.chainId)}:${change.token.address}:${change.certainty}`;
    merged.set(key, { ...change, base: change.base + (merged.get(key)?.base ?? 0n) });
  }
  return {
    legs: simulations.map((simulation) => simulation.prepared),
    balanceChanges: [...merged.values()].map(({ wallet, token, base, certainty }) =>
      changeRecord(wallet, token, base, certainty),
    ),
  };
};
