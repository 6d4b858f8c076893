import { initWalletLink } from "@/lib/contracts/wallets";
import { ok, route } from "@/lib/http/route";
import { toWalletLinkRequest } from "@/lib/trust/wallets/serializer";

export const POST = route({
  contract: initWalletLink,
  handler: async ({ body, actor, services }) =>
    ok(toWalletLinkRequest(await services.walletLinks.init(actor, body))),
});
