import { createAccountsPayout } from "@/lib/contracts/payouts";
import { accepted, route } from "@/lib/http/route";
import { toNewAccountsPayout } from "@/lib/modules/payouts/serializer";

export const POST = route({
  contract: createAccountsPayout,
  beforeReplay: ({ actor, services }) => services.policies.checkAccountRecipients(actor, "transfers"),
  handler: async ({ body, actor, services, idempotencyKey }) =>
    accepted(
      toNewAccountsPayout(await services.payouts.createBetweenAccounts(actor, { ...body, key: idempotencyKey })),
    ),
});
