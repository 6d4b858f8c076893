import { namedContracts } from "@/lib/contracts/all";
import { getOpenApi } from "@/lib/contracts/system";
import { openApiDocument } from "@/lib/http/openapi";
import { ok, route } from "@/lib/http/route";

let document: Record<string, unknown> | undefined;

export const GET = route({
  contract: getOpenApi,
  handler: () =>
    ok((document ??= openApiDocument(namedContracts)), {
      "cache-control": "public, max-age=300",
    }),
});
