import { retryOperation } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: retryOperation,
  beforeReplay: ({ params, actor, services }) => services.swaps.checkRecipient(actor, { operationId: params.id }),
  handler: async ({ params, actor, services }) => ok(await services.swaps.retry(actor, params.id)),
});
