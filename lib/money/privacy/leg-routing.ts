import { parseEventLogs } from "viem";
import { z } from "zod";
import { privacyPoolAbi } from "@/lib/chain/privacy-pools";
import { storedAddress, storedBase, storedHex } from "@/lib/platform/db/codecs";
import type { Call } from "@/lib/core/evm";
import type { RouteLeg, Routing, SourceReceipt } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";

export const PRIVACY_PROVIDER = "privacy";

const shieldPlan = z.object({
  kind: z.literal("shield"),
  pool: storedAddress,
  precommitment: storedBase,
  calls: z.array(z.object({ to: storedAddress, data: storedHex, value: storedBase })),
});

/**
 * The plan of a public exit has no calls: they need a proof, so they are built when the leg is
 * executed.
 */
const exitPlan = z.object({
  kind: z.literal("public_exit"),
  projectId: z.string(),
  walletId: z.string(),
  pool: storedAddress,
  commitment: storedBase,
});

export type ShieldLegPlan = z.output<typeof shieldPlan>;
export type ExitLegPlan = z.output<typeof exitPlan>;

/**
 * Makes the proof of an exit and simulates its calls.
 * @throws DomainError `note_spent`, `simulation_failed`, `chain_unavailable`
 */
export type ExitCalls = (
  exit: { readonly plan: ExitLegPlan; readonly request: RouteRequest },
  signal: AbortSignal,
) => Promise<readonly Call[]>;

const legPlan = z.discriminatedUnion("kind", [shieldPlan, exitPlan]);

const planOf = (leg: RouteLeg): ShieldLegPlan | ExitLegPlan | null =>
  legPlan.safeParse(leg.plan).data ?? null;

type Logs = Parameters<typeof parseEventLogs>[0]["logs"];

const logsOf = ({ logs }: Pick<SourceReceipt, "logs">): Logs =>
  logs.map((log) => ({ ...log, topics: [...log.topics] })) as unknown as Logs;

/** The pool's deposit with the leg's precommitment, in base units; 0 when there is none. */
const depositedBy = (plan: ShieldLegPlan, receipt: Pick<SourceReceipt, "logs">): bigint => {
  const deposits = parseEventLogs({
    abi: privacyPoolAbi,
    eventName: "Deposited",
    logs: logsOf(receipt),
  });
  const own = deposits.find(
    ({ address, args }) =>
      address.toLowerCase() === plan.pool.toLowerCase() &&
      args._precommitmentHash === plan.precommitment,
  );
  return own?.args._value ?? 0n;
};

/** The amount that the pool paid for the leg's note, in base units; 0 when it paid nothing. */
const paidOutBy = (plan: ExitLegPlan, receipt: Pick<SourceReceipt, "logs">): bigint => {
  const exits = parseEventLogs({
    abi: privacyPoolAbi,
    eventName: "Ragequit",
    logs: logsOf(receipt),
  });
  const own = exits.find(
    ({ address, args }) =>
      address.toLowerCase() === plan.pool.toLowerCase() && args._commitment === plan.commitment,
  );
  return own?.args._value ?? 0n;
};

/**
 * Adds shields and public exits to the routing, so that the driver executes them like any other
 * leg.
 */
export const withPrivacyLegs = (routing: Routing, exitCalls: ExitCalls): Routing => ({
  ...routing,
  build: async (request, leg, signal, options) => {
    const plan = planOf(leg);
    if (plan === null) return routing.build(request, leg, signal, options);
    const calls =
      plan.kind === "shield" ? plan.calls : await exitCalls({ plan, request }, signal);
    return { calls, spendsAll: true, validUntil: null, fillDeadline: null };
  },
  readSource: (request, leg, receipt) => {
    const plan = planOf(leg);
    if (plan === null) return routing.readSource(request, leg, receipt);
    const receivedBase =
      plan.kind === "shield" ? depositedBy(plan, receipt) : paidOutBy(plan, receipt);
    const spentBase =
      receivedBase === 0n ? 0n : (request.sources[leg.sourceIndex]?.amountBase ?? 0n);
    return { spentBase, receivedBase, deposit: null, depositedBase: null };
  },
});
