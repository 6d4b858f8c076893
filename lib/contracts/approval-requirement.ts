/** How many people with which roles must approve a movement. */
import { z } from "zod";
import { ROLES } from "@/lib/core/actor";

const count = z
  .int()
  .min(1)
  .max(20)
  .meta({ description: "How many people must approve, 1–20" });

/** Roles that may move money, and so may be asked to approve. */
export const approverRole = z.enum(ROLES).exclude(["viewer"]);

export const approvalRequirement = z
  .object({
    count,
    roles: z
      .array(approverRole)
      .min(1)
      .max(3)
      .refine((roles) => new Set(roles).size === roles.length, "names a role twice")
      .meta({ description: "Members with one of these roles may vote" }),
    excludeMaker: z.boolean().default(true).meta({
      description:
        "Whether the person who asked, or who made the API key that asked, may not vote",
    }),
  })
  .meta({ id: "ApprovalRequirement" });
