import { exportPrivacyWallet } from "@/lib/contracts/privacy";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: exportPrivacyWallet,
  // A stored answer would keep the mnemonic.
  idempotency: false,
  handler: async ({ params, body, actor, services }) =>
    ok({ mnemonic: await services.exportPrivacyWallet(actor, params.id, body.approval) }),
});
