import { createPrivacyWallet, listPrivacyWallets } from "@/lib/contracts/privacy";
import { created, ok, route } from "@/lib/http/route";
import { toPrivacyWallet } from "@/lib/money/privacy/serializer";

export const GET = route({
  contract: listPrivacyWallets,
  handler: async ({ actor, services }) =>
    ok({ data: (await services.privacy.wallets.list(actor.projectId)).map(toPrivacyWallet) }),
});

export const POST = route({
  contract: createPrivacyWallet,
  handler: async ({ body, actor, services }) =>
    created(toPrivacyWallet(await services.privacy.wallets.create(actor, body.name))),
});
