import { listWallets } from "@/lib/contracts/wallets";
import { ok, route } from "@/lib/http/route";
import { toWallets } from "@/lib/trust/wallets/serializer";

export const GET = route({
  contract: listWallets,
  handler: async ({ actor, query, services }) =>
    ok(toWallets(await services.wallets.page(actor.projectId, query))),
});
