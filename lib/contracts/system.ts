import { z } from "zod";
import { jsonObject } from "./common";
import { ERROR_CODES } from "@/lib/core/errors";
import { defineContract } from "./contract";

const tag = "System";

export const getHealth = defineContract({
  method: "GET",
  path: "/health",
  summary: "Liveness: the process answers; no dependency is asked",
  description:
    "For a supervisor that restarts dead processes. It asks neither the database nor a chain, so it answers also while they are down.",
  tag,
  auth: "public",
  status: 200,
  response: z.object({
    status: z.literal("ok").meta({ description: "Always `ok`" }),
    version: z.string().meta({ description: "Version of the service" }),
    uptimeSeconds: z.int().meta({ description: "Seconds since the process started" }),
  }),
});

export const readinessRecord = z
  .object({
    status: z
      .enum(["ready", "unavailable"])
      .meta({ description: "`unavailable` where a part that is needed does not answer" }),
    parts: z
      .array(
        z.object({
          name: z.string().meta({ description: "database, worker, mail, chain:31337 …" }),
          ok: z.boolean().meta({ description: "Whether it answers" }),
          detail: z.string().meta({ description: "What was found, for people" }),
          latencyMs: z.number().nullable().meta({
            description: "How long the answer took, in milliseconds; null where there was none",
          }),
        }),
      )
      .optional()
      .meta({ description: "What the service depends on; only for whoever runs it" }),
  })
  .meta({ id: "Readiness" });

export const getReadiness = defineContract({
  method: "GET",
  path: "/ready",
  summary: "Readiness: 503 when something that the service depends on is missing",
  description:
    "For a load balancer: 200 while the instance can serve, else 503 with a body of the same form. Strangers learn only that. With METRICS_TOKEN as a Bearer token, or from the same machine, `parts` says which dependency is missing.",
  tag,
  auth: "public",
  status: 200,
  response: readinessRecord,
});

export const getMetrics = defineContract({
  method: "GET",
  path: "/metrics",
  summary:
    "Metrics of this process in Prometheus' text form; needs METRICS_TOKEN as a Bearer token, or a caller on the same machine",
  description:
    "For a Prometheus server. Each process counts what it does itself; gauges describe the whole installation.",
  tag,
  auth: "public",
  status: 200,
  response: z.string(),
  mediaType: "text/plain",
  errors: ["unauthorized", "forbidden", "not_found"],
});

export const getOpenApi = defineContract({
  method: "GET",
  path: "/openapi.json",
  summary: "This description (OpenAPI 3.1)",
  description:
    "This document. Generate a client from it, or read it in a viewer. Needs no credential.",
  tag,
  auth: "public",
  status: 200,
  response: jsonObject,
});

export const getErrorPage = defineContract({
  method: "GET",
  path: "/errors/{code}",
  summary:
    "A page for people that explains an error code: when it comes, what to do, and an example",
  description: "The address that `docsUrl` of an error names. Needs no credential.",
  tag,
  auth: "public",
  params: z.object({ code: z.enum(ERROR_CODES).meta({ description: "Code of an error" }) }),
  status: 200,
  response: z.string(),
  mediaType: "text/html",
  errors: ["not_found"],
});
