import { createSmartAccount } from "@/lib/contracts/wallets";
import { created, route } from "@/lib/http/route";
import { toSmartAccount } from "@/lib/trust/wallets/serializer";

export const POST = route({
  contract: createSmartAccount,
  handler: async ({ body, actor, services }) =>
    created(toSmartAccount(await services.wallets.createSmartAccount(actor, body))),
});
