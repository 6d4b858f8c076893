import { unlinkWallet } from "@/lib/contracts/wallets";
import { ok, route } from "@/lib/http/route";
import { toUnlinked } from "@/lib/trust/wallets/serializer";

export const DELETE = route({
  contract: unlinkWallet,
  handler: async ({ params, actor, services }) =>
    ok(toUnlinked(await services.walletLinks.unlink(actor, params.address))),
});
