import { z } from "zod";
import { timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Projects";

export const parkedJobRecord = z
  .object({
    id: z
      .string()
      .meta({ description: "Id of the operation (op_) or payout (po_) that does not go on" }),
    kind: z.enum(["operation", "payout"]).meta({ description: "What does not go on" }),
    failures: z.int().meta({ description: "How often it failed in a row" }),
    lastError: z
      .string()
      .nullable()
      .meta({ description: "Why it failed the last time; null where that is not known" }),
    parkedAt: timestamp.meta({ description: "When the service stopped trying" }),
  })
  .meta({ id: "ParkedJob" });

export const listParkedJobs = defineContract({
  method: "GET",
  path: "/jobs/parked",
  summary:
    "Operations and payouts that failed so often that the service stopped trying; for owners and admins",
  description:
    "An operation or payout whose work fails 50 times in a row is stopped, and its money stays where its record says. Put it back with POST /jobs/{id}/resume.",
  tag,
  auth: "user",
  permission: "jobs:manage",
  status: 200,
  response: z.object({
    data: z.array(parkedJobRecord).meta({ description: "The oldest first, at most 200" }),
  }),
  errors: ["forbidden"],
});

export const resumeJob = defineContract({
  method: "POST",
  path: "/jobs/{id}/resume",
  summary: "Lets the service try a stopped operation or payout again; for owners and admins",
  description:
    "The service goes on where it stopped, without another approval. It is stopped again when it fails as often.",
  tag,
  auth: "user",
  permission: "jobs:manage",
  params: z.object({
    id: z.string().max(80).meta({ description: "Id of the operation or payout" }),
  }),
  status: 202,
  response: z.object({
    resumed: z
      .literal(true)
      .meta({ description: "Always true: a worker takes it within seconds" }),
  }),
  errors: ["forbidden"],
});
