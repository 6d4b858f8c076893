import { createPayoutSchedule, listPayoutSchedules } from "@/lib/contracts/payout-schedules";
import { created, ok, route } from "@/lib/http/route";
import { toSchedule, toSchedules } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: createPayoutSchedule,
  beforeReplay: ({ body, actor, services }) => services.payouts.checkRecipients(actor, body),
  handler: async ({ body, actor, services, idempotencyKey }) =>
    created(
      toSchedule(
        await services.payoutSchedules.create(actor, { ...body, key: idempotencyKey }),
      ),
    ),
});

export const GET = route({
  contract: listPayoutSchedules,
  handler: async ({ query, actor, services }) =>
    ok(toSchedules(await services.payoutSchedules.list(actor.projectId, query))),
});
