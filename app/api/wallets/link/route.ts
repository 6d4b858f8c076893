import { listLinkedWallets } from "@/lib/contracts/wallets";
import { ok, route } from "@/lib/http/route";
import { toLinkedWallets } from "@/lib/trust/wallets/serializer";

export const GET = route({
  contract: listLinkedWallets,
  handler: async ({ actor, services }) =>
    ok(toLinkedWallets(await services.walletLinks.list(actor))),
});
