import { createWalletsPayout } from "@/lib/contracts/payouts";
import { accepted, route } from "@/lib/http/route";
import { toNewWalletsPayout } from "@/lib/modules/payouts/serializer";

export const POST = route({
  contract: createWalletsPayout,
  beforeReplay: ({ body, actor, services }) => services.payouts.checkRecipients(actor, body),
  handler: async ({ body, actor, services, idempotencyKey }) =>
    accepted(toNewWalletsPayout(await services.payouts.createToWallets(actor, { ...body, key: idempotencyKey }))),
});
