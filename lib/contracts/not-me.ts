import { z } from "zod";
import { timestamp } from "./common";
import { defineContract } from "./contract";
import { madeThingRecord } from "./sessions";

const tag = "Profile";

const body = z.object({
  token: z
    .string()
    .min(1)
    .max(300)
    .meta({ description: "What follows the # of the mailed link; good for 30 days" }),
});

export const lookUpNotMe = defineContract({
  method: "POST",
  path: "/not-me/lookup",
  summary: 'What the mailed link "This was not me" is about',
  description: "For the owner who opened the link; needs no sign-in. Changes nothing.",
  tag,
  auth: "public",
  body,
  status: 200,
  response: z
    .object({
      kind: madeThingRecord.shape.kind,
      id: madeThingRecord.shape.id,
      name: z
        .string()
        .nullable()
        .meta({ description: "Its name, URL or reference; null when it has ended" }),
      state: z.enum(["works", "suspended", "proven", "ended"]).meta({
        description:
          "`proven`: a person approved it since, so it stays; `ended`: it was revoked, deleted or cancelled",
      }),
      madeAt: timestamp
        .nullable()
        .meta({ description: "When it was made; null when it has ended" }),
      madeBy: z
        .string()
        .meta({ description: "Address that the person of the session signs in with" }),
      device: z.string().meta({ description: "The device of the session in words" }),
      address: z
        .string()
        .nullable()
        .meta({ description: "IP address of its sign-in; null when it is not known" }),
      signedInAt: timestamp.meta({ description: "When the session began" }),
      sessionEnded: z.boolean().meta({ description: "Whether the session has ended" }),
      others: z
        .array(madeThingRecord.pick({ kind: true, name: true, projectName: true }))
        .meta({ description: "What else the session made without a proof and still works" }),
    })
    .meta({ id: "NotMe" }),
  errors: ["not_found"],
});

export const confirmNotMe = defineContract({
  method: "POST",
  path: "/not-me",
  summary:
    "Ends the session that made something, and suspends everything that it made without a proof",
  description:
    "For the owner who opened the mailed link; needs no sign-in. It only takes away: a suspended thing is restored by a person with a proof (POST /me/sessions/made/restore). A repeated call changes nothing more.",
  tag,
  auth: "public",
  body,
  status: 200,
  response: z.object({
    suspended: z
      .array(madeThingRecord.pick({ kind: true, name: true, projectName: true }))
      .meta({ description: "What this call suspended" }),
  }),
  errors: ["not_found"],
});
