import { defineContract, type Method } from "@/lib/contracts/contract";
import { notFound } from "@/lib/core/errors";
import { route } from "@/lib/http/route";
import { z } from "zod";

// Unknown paths get the API's own 404 instead of a page. They are no part of the description.
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
    handler: () => {
      throw notFound();
    },
  });

export const GET = unknown("GET");
export const POST = unknown("POST");
export const PATCH = unknown("PATCH");
export const DELETE = unknown("DELETE");
export const PUT = unknown("PUT");
