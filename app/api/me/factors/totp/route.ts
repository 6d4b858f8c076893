import { startTotp } from "@/lib/contracts/factors";
import { ok, route } from "@/lib/http/route";
import { toNewTotp } from "@/lib/trust/proofs/serializer";

export const POST = route({
  contract: startTotp,
  handler: async ({ body, actor, services }) =>
    ok(toNewTotp(await services.factors.startTotp(actor, body.approval))),
});
