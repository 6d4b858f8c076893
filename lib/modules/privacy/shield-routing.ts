import { parseEventLogs } from "viem";
import { z } from "zod";
import { privacyPoolAbi } from "@/lib/chains/privacy-pools";
import { storedAddress, storedBase, storedHex } from "@/lib/ports/routing-json";
import type { RouteLeg, RoutingProvider, SourceReceipt } from "@/lib/ports/routing";

/** What a leg of a shield keeps as its plan. */
const shieldPlan = z.object({
  kind: z.literal("shield"),
  pool: storedAddress,
  precommitment: storedBase,
  calls: z.array(z.object({ to: storedAddress, data: storedHex, value: storedBase })),
});

export type ShieldLegPlan = z.output<typeof shieldPlan>;

const planOf = (leg: RouteLeg): ShieldLegPlan | null => shieldPlan.safeParse(leg.plan).data ?? null;

/** What the pool took: the deposit with the leg's precommitment. */
const depositedBy = (plan: ShieldLegPlan, { logs }: Pick<SourceReceipt, "logs">): bigint => {
  const asLogs = logs.map((log) => ({ ...log, topics: [...log.topics] })) as unknown as Parameters<
    typeof parseEventLogs
  >[0]["logs"];
  const deposits = parseEventLogs({ abi: privacyPoolAbi, eventName: "Deposited", logs: asLogs });
  const own = deposits.find(
    ({ address, args }) =>
      address.toLowerCase() === plan.pool.toLowerCase() && args._precommitmentHash === plan.precommitment,
  );
  return own?.args._value ?? 0n;
};

/** The routing provider, which also carries deposits into privacy pools out: to the driver they are legs as others are. */
export const withShields = (routing: RoutingProvider): RoutingProvider => ({
  ...routing,
  build: (request, leg, signal, options) => {
    const plan = planOf(leg);
    if (plan === null) return routing.build(request, leg, signal, options);
    return Promise.resolve({ calls: plan.calls, spendsAll: true, validUntil: null, fillDeadline: null });
  },
  readSource: (request, leg, receipt) => {
    const plan = planOf(leg);
    if (plan === null) return routing.readSource(request, leg, receipt);
    const receivedBase = depositedBy(plan, receipt);
    const spentBase = receivedBase === 0n ? 0n : (request.sources[leg.sourceIndex]?.amountBase ?? 0n);
    return { spentBase, receivedBase, deposit: null };
  },
});
