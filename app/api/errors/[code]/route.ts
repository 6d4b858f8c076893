import { getErrorPage } from "@/lib/contracts/system";
import { errorPage } from "@/lib/http/error-page";
import { route } from "@/lib/http/route";
import { STATUS_PAGE_HEADERS } from "@/lib/http/edge-error";

export const GET = route({
  contract: getErrorPage,
  handler: ({ params }) =>
    new Response(errorPage(params.code), {
      headers: { ...STATUS_PAGE_HEADERS, "cache-control": "public, max-age=300" },
    }),
});
