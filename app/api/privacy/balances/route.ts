import { getPrivateBalances } from "@/lib/contracts/privacy";
import { ok, route } from "@/lib/http/route";
import { toPrivateBalances } from "@/lib/modules/privacy/serializer";

export const GET = route({
  contract: getPrivateBalances,
  handler: async ({ query, actor, services }) => {
    const balances = await services.privacy.balances(actor, query.privacyWalletId);
    return ok(toPrivateBalances(balances, services.privacy.engineName));
  },
});
