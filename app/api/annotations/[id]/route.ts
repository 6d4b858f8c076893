import { putAnnotation } from "@/lib/contracts/annotations";
import { ok, route } from "@/lib/http/route";
import { toAnnotation } from "@/lib/money/annotations/serializer";

export const PUT = route({
  contract: putAnnotation,
  handler: async ({ params, body, actor, services }) =>
    ok(toAnnotation(await services.annotations.put(actor, params.id, body))),
});
