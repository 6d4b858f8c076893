import { verifyWalletLink } from "@/lib/contracts/wallets";
import { ok, route } from "@/lib/http/route";
import { toVerifiedLink } from "@/lib/trust/wallets/serializer";

export const POST = route({
  contract: verifyWalletLink,
  handler: async ({ body, actor, services }) =>
    ok(toVerifiedLink(await services.walletLinks.verify(actor, body))),
});
