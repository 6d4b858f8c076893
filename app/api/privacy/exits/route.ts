import { listPrivateExits, startPrivateExit } from "@/lib/contracts/privacy";
import { accepted, ok, route } from "@/lib/http/route";
import { toPrivateExits, toPrivateTransfer } from "@/lib/money/privacy/serializer";

export const GET = route({
  contract: listPrivateExits,
  handler: async ({ query, actor, services }) =>
    ok(toPrivateExits(await services.privacy.exits(actor, query.privacyWalletId))),
});

export const POST = route({
  contract: startPrivateExit,
  handler: async ({ body, actor, services, idempotencyKey }) => {
    const transfer = await services.privacy.exit(actor, body, idempotencyKey);
    return accepted(toPrivateTransfer(transfer, services));
  },
});
