import { retryOperation } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toPrivateTransfer } from "@/lib/money/privacy/serializer";

export const POST = route({
  contract: retryOperation,
  beforeReplay: async ({ params, actor, services }) => {
    await services.operations.getFor(actor, params.id);
    if (await services.privacy.checkRetry(actor, params.id)) return;
    await services.swaps.checkCaller(actor, { operationId: params.id });
  },
  handler: async ({ params, actor, services }) => {
    await services.operations.getFor(actor, params.id);
    const again = await services.privacy.retry(actor, params.id);
    if (again !== null) return ok(toPrivateTransfer(again, services));
    return ok({ kind: "quote" as const, ...(await services.swaps.retry(actor, params.id)) });
  },
});
