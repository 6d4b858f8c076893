import { createAccountsPayout } from "@/lib/contracts/payouts";
import { accepted, route } from "@/lib/http/route";
import { toNewPayout } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: createAccountsPayout,
  beforeReplay: ({ actor, services }) =>
    services.policies.checkAccountRecipients(actor, "transfers"),
  handler: async ({ body, actor, services, idempotencyKey }) =>
    accepted(
      toNewPayout(
        await services.payouts.create(actor, {
          ...body,
          kind: "global_accounts",
          key: idempotencyKey,
        }),
      ),
    ),
});
