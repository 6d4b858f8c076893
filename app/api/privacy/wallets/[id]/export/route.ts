import { exportPrivacyWallet } from "@/lib/contracts/privacy";
import { ok, route } from "@/lib/http/route";
import { toExport } from "@/lib/money/privacy/serializer";

export const POST = route({
  contract: exportPrivacyWallet,
  handler: async ({ params, body, actor, services }) => {
    const pools = services.registry.list().flatMap(({ id }) => services.poolPlaces(id));
    return ok(
      toExport(await services.exportPrivacyWallet(actor, params.id, body.approval), pools),
    );
  },
});
