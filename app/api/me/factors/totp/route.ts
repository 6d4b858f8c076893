import { startTotp } from "@/lib/contracts/factors";
import { ok, route } from "@/lib/http/route";
import { toNewTotp } from "@/lib/modules/factors/serializer";

export const POST = route({
  contract: startTotp,
  // A stored answer would show the secret a second time.
  idempotency: false,
  handler: async ({ body, actor, services }) => ok(toNewTotp(await services.factors.startTotp(actor, body.approval))),
});
