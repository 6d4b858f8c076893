import { labelWallet } from "@/lib/contracts/wallets";
import { ok, route } from "@/lib/http/route";
import { toWallet } from "@/lib/trust/wallets/serializer";

export const PATCH = route({
  contract: labelWallet,
  handler: async ({ params, body, actor, services }) =>
    ok(toWallet(await services.wallets.label(actor, params.id, body.label))),
});
