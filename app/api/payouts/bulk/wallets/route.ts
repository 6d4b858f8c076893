import { createWalletsPayout } from "@/lib/contracts/payouts";
import { accepted, route } from "@/lib/http/route";
import { toNewPayout } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: createWalletsPayout,
  beforeReplay: ({ body, actor, services }) => services.payouts.checkRecipients(actor, body),
  handler: async ({ body, actor, services, idempotencyKey }) =>
    accepted(
      toNewPayout(
        await services.payouts.create(actor, { ...body, kind: "wallets", key: idempotencyKey }),
      ),
    ),
});
