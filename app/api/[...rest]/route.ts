import { z } from "zod";
import { defineContract, type Method } from "@/lib/contracts/contract";
import { route } from "@/lib/http/route";
import { unknownPath } from "@/lib/http/unknown-path";

// Unknown paths below /api get the API's 404 answer instead of Next's page. The contract stays out
// of the OpenAPI description.
const unknown = (method: Method) =>
  route({
    contract: defineContract({
      method,
      path: "/{unknown}",
      summary: "Nothing is here",
      tag: "System",
      auth: "public",
      status: 200,
      response: z.never(),
      errors: ["not_found"],
    }),
    takesAnything: true,
    handler: ({ request }) => {
      throw unknownPath(new URL(request.url).pathname.replace(/^\/api/, ""));
    },
  });

export const GET = unknown("GET");
export const POST = unknown("POST");
export const PATCH = unknown("PATCH");
export const DELETE = unknown("DELETE");
export const PUT = unknown("PUT");
