import { retryOperation } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: retryOperation,
  handler: async ({ params, actor, services }) => ok(await services.quotes.retry(actor, params.id)),
});
