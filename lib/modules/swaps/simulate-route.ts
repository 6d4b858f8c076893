import type { Route, RouteLeg, RouteRequest } from "@/lib/ports/routing";
import type { GasCost } from "@/lib/modules/sponsorship/service";
import { type FeePayer, type PreparedLeg, type SourceWallet } from "@/lib/modules/quotes/service";
import { requireUnfrozen } from "@/lib/chains/require-unfrozen";
import { toActions, toBalanceChange, type Action, type BalanceChange } from "./serializer";
import { prepareLeg, type SimulatedChange, type SimulationDeps } from "./prepare-leg";

export type { SimulationDeps } from "./prepare-leg";

/** Several legs may move the same balance. */
const merged = (changes: readonly SimulatedChange[]): SimulatedChange[] => {
  const byBalance = new Map<string, SimulatedChange>();
  for (const change of changes) {
    const key = `${change.wallet}:${String(change.token.chainId)}:${change.token.address}:${change.certainty}`;
    byBalance.set(key, { ...change, base: change.base + (byBalance.get(key)?.base ?? 0n) });
  }
  return [...byBalance.values()];
};

export interface RouteSimulation {
  legs: PreparedLeg[];
  balanceChanges: BalanceChange[];
  /** The payer of the network fee, by leg. */
  feePayers: FeePayer[];
  /** Of the legs whose network fee the sponsor pays. */
  costs: GasCost[];
  /** Actions that the caller's own wallets must sign or send, in this order, before execute. */
  actions: Action[];
}

/**
 * Builds and simulates every leg against the chains as they are now. Nothing is signed for it, and nothing sent.
 * @throws DomainError `simulation_failed`, `insufficient_balance` (no coins for a network fee), `invalid_request` (a wallet that
 * cannot be a source), `wallet_frozen`, `recipient_frozen`, `sponsor_budget_exceeded` (gas above any limit), `chain_unavailable`
 */
export const simulateRoute = async (
  deps: SimulationDeps,
  input: {
    projectId: string;
    kind: string;
    request: RouteRequest;
    wallets: readonly SourceWallet[];
    route: Route;
    legIds: ReadonlyMap<number, string>;
    signal: AbortSignal;
  },
): Promise<RouteSimulation> => {
  const { request, wallets, route } = input;
  const accountOf = ({ sourceIndex }: RouteLeg): string => {
    const source = request.sources[sourceIndex];
    return `${source?.owner ?? ""}:${String(source?.token.chainId)}`;
  };
  const isFirst = (leg: RouteLeg): boolean => route.legs.find((each) => accountOf(each) === accountOf(leg)) === leg;
  // Beside the simulations, and before their errors: a transfer of a frozen address fails without saying why.
  const unfrozen = requireUnfrozen(deps.freezes, request);
  unfrozen.catch(() => undefined);
  const simulations = await Promise.all(
    route.legs.map((leg) =>
      prepareLeg(deps, { ...input, leg, legId: input.legIds.get(leg.sourceIndex), deploys: isFirst(leg) }),
    ),
  ).catch(async (error: unknown) => {
    await unfrozen;
    throw error;
  });
  await unfrozen;
  const legs = simulations.map(({ prepared }) => prepared);
  return {
    legs,
    costs: simulations.flatMap(({ cost }) => cost ?? []),
    feePayers: simulations.map(({ cost }) => (cost === null ? "wallet" : "sponsor")),
    balanceChanges: merged(simulations.flatMap(({ changes }) => changes)).map(toBalanceChange),
    actions: route.legs.flatMap((leg, index) => {
      const [wallet, prepared] = [wallets[leg.sourceIndex], legs[index]];
      const source = request.sources[leg.sourceIndex];
      if (!wallet || !prepared || !source) throw new Error("A leg names a source that was not asked for.");
      return toActions(prepared, { wallet, chainId: source.token.chainId });
    }),
  };
};
