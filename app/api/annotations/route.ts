import { listAnnotations } from "@/lib/contracts/annotations";
import { ok, route } from "@/lib/http/route";
import { toAnnotation } from "@/lib/money/annotations/serializer";

export const GET = route({
  contract: listAnnotations,
  handler: async ({ query, actor, services }) => {
    const found = await services.annotations.list(actor, query.ids.split(","));
    return ok({ data: found.map(toAnnotation) });
  },
});
