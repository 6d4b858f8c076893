import { z } from "zod";
import { defineContract } from "./contract";

const tag = "System";

export const getHealth = defineContract({
  method: "GET",
  path: "/health",
  summary: "Liveness: the process answers; no dependency is asked",
  tag,
  auth: "public",
  status: 200,
  response: z.object({ status: z.literal("ok"), version: z.string(), uptimeSeconds: z.int() }),
});

export const readinessRecord = z
  .object({
    status: z.enum(["ready", "unavailable"]),
    parts: z.array(
      z.object({
        name: z.string().meta({ description: "database, worker, mail, chain:31337 …" }),
        ok: z.boolean(),
        detail: z.string(),
        latencyMs: z.number().nullable(),
      }),
    ),
  })
  .meta({ id: "Readiness" });

export const getReadiness = defineContract({
  method: "GET",
  path: "/ready",
  summary: "Readiness: each dependency; 503 with the same body when one is missing",
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
  tag,
  auth: "public",
  status: 200,
  response: z.string(),
  mediaType: "text/plain",
  errors: ["unauthorized", "not_found"],
});

export const getOpenApi = defineContract({
  method: "GET",
  path: "/openapi.json",
  summary: "This description (OpenAPI 3.1)",
  tag,
  auth: "public",
  status: 200,
  response: z.record(z.string(), z.unknown()),
});
