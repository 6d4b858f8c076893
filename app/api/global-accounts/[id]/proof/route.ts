import { getReservesProof } from "@/lib/contracts/reserves";
import { ok, route } from "@/lib/http/route";
import { toProof } from "@/lib/books/reserves/serializer";

export const GET = route({
  contract: getReservesProof,
  handler: async ({ params, actor, services }) => {
    const { account, asset } = await services.globalAccounts.get(actor.projectId, params.id);
    const proof = await services.reserves.proofOf(
      actor.projectId,
      account.currency,
      account.id,
    );
    return ok(
      toProof(
        { currency: asset?.symbol ?? account.currency, assetId: account.currency },
        proof,
      ),
    );
  },
});
