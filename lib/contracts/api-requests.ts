import { z } from "zod";
import { id, page, pageQuery, timestamp } from "./common";
import { defineContract } from "./contract";

export const apiRequestRecord = z
  .object({
    id: id("req").meta({
      description: "Id of the request, as in the header `x-request-id` of its answer",
    }),
    keyId: id("key"),
    method: z.string().meta({ description: "HTTP method" }),
    path: z
      .string()
      .meta({ description: "Path of the operation, with the names of its parameters" }),
    status: z.int().meta({ description: "HTTP status of the answer" }),
    code: z
      .string()
      .nullable()
      .meta({ description: "Code of the error that was answered; null for a success" }),
    durationMs: z
      .number()
      .meta({ description: "Milliseconds until the answer; of a stream, until it began" }),
    clientAddress: z
      .string()
      .nullable()
      .meta({ description: "IP address of the caller, where it is known" }),
    bodySha256: z.string().nullable().meta({
      description:
        "SHA-256 of the body's bytes as they were sent, in hexadecimal; null where there is none, or the request was refused before its body was read",
    }),
    at: timestamp.meta({ description: "When the request came" }),
  })
  .meta({ id: "ApiRequest" });

export const listApiKeyRequests = defineContract({
  method: "GET",
  path: "/auth/api-keys/{id}/requests",
  summary: "Requests that were made with an API key, newest first; for owners and admins",
  description:
    "Each request that a key authenticated, refused and rate-limited ones included, about a second after its answer. Bodies are not kept: compare `bodySha256` with the SHA-256 of what your program sent. Entries older than the service's retention are deleted.",
  tag: "API keys",
  auth: "user",
  permission: "keys:manage",
  params: z.object({ id: id("key") }),
  query: pageQuery.extend({
    method: z
      .enum(["GET", "POST", "PUT", "PATCH", "DELETE"])
      .optional()
      .meta({ description: "Only this method" }),
    path: z
      .string()
      .max(200)
      .optional()
      .meta({ description: "Only this operation's path, such as `/transfers/{transferId}`" }),
    outcome: z
      .enum(["succeeded", "refused", "failed"])
      .optional()
      .meta({ description: "`refused`: a 4xx status. `failed`: a 5xx status" }),
    from: timestamp.optional().meta({ description: "Made at or after" }),
    to: timestamp.optional().meta({ description: "Made before" }),
  }),
  status: 200,
  response: page(apiRequestRecord),
  errors: ["forbidden", "not_found"],
});
