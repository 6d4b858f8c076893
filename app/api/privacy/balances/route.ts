import { getPrivateBalances } from "@/lib/contracts/privacy";
import { ok, route } from "@/lib/http/route";
import { toPrivateBalances } from "@/lib/money/privacy/serializer";

export const GET = route({
  contract: getPrivateBalances,
  handler: async ({ query, actor, services }) => {
    const balances = await services.privacy.balances(actor, query.privacyWalletId);
    const { engineName: engine, anonymitySetMin } = services.privacy;
    return ok(toPrivateBalances(balances, { engine, anonymitySetMin }));
  },
});
