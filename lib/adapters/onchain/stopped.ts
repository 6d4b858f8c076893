import type { RouteLeg, RouteRequest, RoutingProvider } from "@/lib/ports/routing";
import type { OnchainDeps } from "./chain-access";
import { parsePlan } from "./plan";
import { spentBy, sumTransfers } from "./receipts";

/**
 * Reads the effects of a leg that stopped half-way: the swap that pays for a deposit was mined, and the deposit was
 * not.
 */
export const createStoppedReader =
  (deps: Pick<OnchainDeps, "registry">): RoutingProvider["readStopped"] =>
  (request: RouteRequest, leg: RouteLeg, { logs }) => {
    const source = request.sources[leg.sourceIndex];
    if (source === undefined) throw new RangeError(`There is no source ${leg.sourceIndex} in this request.`);
    const plan = parsePlan(leg.plan);
    const token = leg.steps.find((step) => step.kind === "bridge")?.from;
    if (plan.kind !== "bridge" || plan.sourceSwap === null || token === undefined || token.address === "native") {
      return { spentBase: 0n, bought: null };
    }
    const amountBase =
      sumTransfers(logs, token.address, { to: source.owner }) -
      sumTransfers(logs, token.address, { from: source.owner });
    if (amountBase <= 0n) return { spentBase: 0n, bought: null };
    return { spentBase: spentBy(deps, source, logs), bought: { token, amountBase } };
  };
